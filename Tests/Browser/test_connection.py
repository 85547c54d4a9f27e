"""What the demo shows when its server stops, and what it does when the server is back."""

import unittest

from demo_case import DemoCase
from demo_server import DemoServer

SHOP = "/demo/pages/shop.html"
PHONE = (390, 844)
DESK = (1280, 800)


class ServerLossTest(DemoCase):
    server_ends = True

    def restart(self):
        """A new server at the same address."""
        type(self).server = DemoServer(self.server.port)
        self.addClassCleanup(self.server.stop)

    def line(self):
        return self.phone.find("#connection")

    def test_page_reconnects_with_new_session_after_restart(self):
        session = self.line().text
        self.open_shop()
        with self.phone.web("shop.html"):
            self.phone.button("Who made it?").click()
        self.phone.wait_for_stack("flutter://profile/7", SHOP, "native://home")
        self.server.stop()
        curtain = self.phone.find("#lost")
        self.phone.wait(lambda: "Reconnecting" in curtain.text, "the curtain")
        self.assertIn(self.line().get_attribute("data-state"), ("waiting", "connecting"))
        self.assertEqual(self.driver.find_elements("css selector", ".toast"), [])
        self.assertEqual(self.phone.overflow(), [], "the curtain is too wide")

        self.restart()
        self.phone.wait(lambda: not curtain.is_displayed(), "the end of the curtain")
        self.assertRegex(self.line().text, "^Session ")
        self.assertNotEqual(self.line().text, session)
        self.phone.wait_for_stack("native://home")
        self.phone.wait(lambda: self.phone.find("#engine").text == "Flutter: connected", "Flutter")
        surfaces = self.driver.find_elements("css selector", ".surface[data-uri]")
        self.assertEqual([e.get_attribute("data-uri") for e in surfaces], ["native://home"])

        self.open_shop()
        with self.phone.web("shop.html"):
            self.phone.button("Choose an address").click()
        self.phone.press("native://address/list", "Studio")
        with self.phone.web("shop.html"):
            self.assertEqual(self.phone.settled(), "Studio, Quay 4, Loft 2, Bergen")
        with self.phone.web("shop.html"):
            self.phone.button("Who made it?").click()
        with self.phone.flutter():
            self.phone.button("Follow", self.phone.flutter_page("Profile")).click()
        with self.phone.web("shop.html"):
            self.assertEqual(self.phone.settled(), "you follow Mira Holm")

    def test_try_now_button_reconnects_immediately(self):
        self.server.stop()
        again = self.phone.button("Reconnect now")
        for _ in range(3):
            self.phone.wait(lambda: again.text == "Reconnect now", "the next try")
            again.click()
        self.restart()
        self.phone.wait(lambda: again.text != "Reconnect now" or not again.click(), "a try")
        self.phone.wait(lambda: not again.is_displayed(), "the connection")
        self.phone.surface("native://home")

    def test_connection_lost_overlay_fits_every_screen(self):
        self.server.stop()
        self.phone.wait(lambda: "Connection lost" in self.phone.find("#lost").text, "the curtain")
        for name, size in (("phone", PHONE), ("desk", DESK)):
            for shade in ("light", "dark"):
                self.driver.show(size, shade == "dark")
                self.phone.find("#lost")
                self.screenshot(f"connection-lost-{name}-{shade}")
                # A window that has just changed its size is laid out a moment later.
                self.phone.wait(lambda: self.phone.overflow() == [], f"{name}-{shade} to fit")
        self.restart()
        self.phone.wait(lambda: not self.phone.driver.find_element("id", "lost").is_displayed(), "it")


if __name__ == "__main__":
    unittest.main()
