"""Reloaded pages resume where they were, including the shell with all its pages."""

import tempfile
import unittest
from pathlib import Path

from demo_case import DemoCase
from demo_server import DemoServer

SHOP = "/demo/pages/shop.html"
LIST = "native://address/list"
PROFILE = "flutter://profile/7"
ROOT = Path(__file__).resolve().parents[2]
STUDIO = "Studio, Quay 4, Loft 2, Bergen"


class ReloadCase(DemoCase):
    def session(self):
        return self.phone.find("#connection[data-state=connected]").text

    def reload(self):
        """Reloads the whole demo: the shell, and with it every frame."""
        self.driver.execute_script("window.isOld = true; location.reload()")
        self.phone.wait(
            lambda: self.driver.execute_script("return !window.isOld && document.readyState") == "complete",
            "the next load",
        )

    def reload_shop(self):
        """Reloads the shop, whatever lies over it."""
        frames = self.driver.find_elements("css selector", f".surface[data-uri*='{SHOP}'] iframe")
        self.driver.switch_to.frame(frames[0])
        self.driver.execute_script("window.isOld = true; setTimeout(() => location.reload(), 0)")
        self.phone.wait(
            lambda: self.driver.execute_script("return !window.isOld && document.readyState") == "complete",
            "the next load",
        )
        self.driver.switch_to.default_content()

    def choose(self, button):
        self.open_shop()
        with self.phone.web("shop.html"):
            self.phone.button(button).click()

    def pick(self):
        self.phone.press(LIST, "Studio")
        with self.phone.web("shop.html"):
            self.assertEqual(self.phone.settled(), STUDIO)


class ReloadTest(ReloadCase):
    def test_reloaded_opener_receives_result(self):
        self.choose("Choose an address")
        self.phone.surface(LIST)
        for _ in range(2):
            self.reload_shop()
        self.pick()

    def test_full_reload_keeps_session_and_pages(self):
        session = self.session()
        self.choose("Choose an address")
        self.phone.surface(LIST)
        for _ in range(2):
            self.reload()
            self.phone.wait_for_stack(LIST, SHOP, "native://home")
            self.assertEqual(self.session(), session)
        self.pick()
        with self.phone.web("shop.html"):
            self.phone.button("Close page").click()
        self.phone.wait_for_stack("native://home")
        self.assertEqual(self.phone.result("native://home"), "closed itself")

    def test_reloaded_flutter_view_shows_its_pages_again(self):
        self.choose("Who made it?")
        with self.phone.flutter():
            self.phone.flutter_page("Profile")
        self.reload()
        self.phone.wait_for_stack(PROFILE, SHOP, "native://home")
        with self.phone.flutter():
            self.phone.button("Follow", self.phone.flutter_page("Profile")).click()
        with self.phone.web("shop.html"):
            self.assertEqual(self.phone.settled(), "you follow Mira Holm")


class TabsTest(ReloadCase):
    def test_two_tabs_have_separate_sessions(self):
        session = self.session()
        first = self.driver.current_window_handle
        self.driver.switch_to.new_window("tab")
        self.driver.show(self.size, self.dark)
        self.driver.get(f"{self.server.address}/demo/")
        self.phone.surface("native://home")
        self.assertNotEqual(self.session(), session)
        self.driver.close()
        self.driver.switch_to.window(first)
        self.assertEqual(self.session(), session)


class RestartCase(ReloadCase):
    server_ends = True

    def restart(self, end):
        end()
        type(self).server = DemoServer(self.server.port, self.command)
        self.addClassCleanup(self.server.stop)

    def note(self):
        """Its note next to the phone, which is also shown in front of it."""
        text = self.phone.note("session")
        self.phone.toast(text)
        return text


class RestartTest(RestartCase):
    def test_pages_lost_by_restart_are_reported(self):
        self.choose("Choose an address")
        self.phone.surface(LIST)
        self.restart(self.server.stop)
        self.phone.wait_for_stack("native://home")
        note = self.note()
        self.assertIn("no longer knows this client", note)
        self.assertIn("3 pages", note)

    def test_outcome_of_pending_calls_is_reported(self):
        session = self.session()
        self.phone.press("native://home", "Addresses")
        self.phone.surface(LIST)
        self.restart(self.server.crash)
        self.phone.wait_for_stack("native://home")
        self.assertNotEqual(self.session(), session)
        note = self.note()
        self.assertIn("a new session has begun; lost: 2 pages and one call.", note)
        self.assertIn(f"It is unknown whether these calls ran: {LIST}.", note)
        self.phone.settle()
        self.screenshot("restart-lost")
        self.assertEqual(self.phone.overflow(), [], "the note is too wide")


class DurableSessionTest(RestartCase):
    """A server that persists its sessions serves the same demo."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        table, web = str(ROOT / "protocol/routes/demo.json"), str(ROOT / "web")
        cls.command = ("serve", "--data", folder.name, "--drain", "0", "--table", table, "--web", web)
        super().setUpClass()

    def test_result_survives_crash_and_restart(self):
        session = self.session()
        self.choose("Choose an address")
        self.phone.surface(LIST)
        for end in ("crash", "stop"):
            self.restart(getattr(self.server, end))
            self.assertEqual(self.note(), "The server was restarted; the session continues with 3 pages and 2 waiting calls.")
            self.phone.button("Clear").click()
            self.phone.wait_for_stack(LIST, SHOP, "native://home")
            self.assertEqual(self.session(), session)
        self.phone.settle()
        self.screenshot("restart-kept")
        self.pick()


if __name__ == "__main__":
    unittest.main()
