"""The demo's pages come by invitation: what they keep of it outlives a reload, and each keeps its own."""

import unittest

from demo_case import DemoCase
from firefox import Firefox

SHOP = "/demo/pages/shop.html"


class InvitationsTest(DemoCase):
    def reload(self, router=""):
        """Loads the document of the frame anew, after a script; the switch to the frame has to be made again."""
        self.driver.execute_script("window.isOld = true; " + router)
        self.driver.execute_script("setTimeout(() => location.reload(), 0)")

    def wait_for_reload(self):
        self.phone.wait(
            lambda: self.driver.execute_script("return !window.isOld && document.readyState") == "complete",
            "the next load",
        )
        self.phone.find("#main")

    def open_review(self):
        self.open_shop()
        with self.phone.web("shop.html"):
            self.phone.button("Write a review").click()
        self.phone.surface("review.html")

    def test_the_invitation_is_not_left_in_the_address(self):
        self.open_shop()
        with self.phone.web("shop.html"):
            self.phone.button("Share this mug")
            self.assertEqual(
                self.driver.execute_script("return location.href"), f"{self.server.address}{SHOP}"
            )
            self.assertFalse(self.phone.find("#main").find_elements("css selector", "#alone:not([hidden])"))

    def test_a_page_that_is_loaded_anew_is_still_in_the_app(self):
        self.open_shop()
        for router in ("", "history.pushState({ own: 1 }, '', '?sorted'); history.replaceState(null, '', '?by=price')"):
            with self.phone.web("shop.html"):
                self.reload(router)
                self.wait_for_reload()
                self.phone.button("Choose an address").click()
            self.phone.press("native://address/list", "Studio")
            with self.phone.web("shop.html"):
                self.assertEqual(self.phone.settled(), "Studio, Quay 4, Loft 2, Bergen")
        self.phone.wait_for_stack(SHOP, "native://home")

    def test_two_frames_that_are_loaded_anew_are_each_in_their_own_page(self):
        self.open_review()
        frames = self.driver.find_elements("css selector", ".surface iframe[title]")
        self.assertEqual(len([frame for frame in frames if "pages/" in frame.get_attribute("src")]), 2)
        for frame in frames:
            if "pages/" in frame.get_attribute("src"):
                self.driver.switch_to.frame(frame)
                self.reload()
                self.driver.switch_to.default_content()
        with self.phone.web("review.html"):
            self.wait_for_reload()
            # Without a page it finishes its own.
            self.phone.button("Send review").click()
        self.phone.wait_for_stack(SHOP, "native://home")
        with self.phone.web("shop.html"):
            self.wait_for_reload()
            self.phone.button("Close page").click()
        self.phone.wait_for_stack("native://home")
        self.assertEqual(self.phone.result("native://home"), "closed itself")

    def test_a_shell_that_is_loaded_anew_invites_its_pages_anew(self):
        self.open_review()
        self.driver.execute_script("window.isOld = true; location.reload()")
        self.phone.wait(lambda: self.driver.execute_script("return !window.isOld"), "the next load")
        self.phone.wait_for_stack("/demo/pages/review.html", SHOP, "native://home")
        with self.phone.web("review.html"):
            self.phone.button("Send review").click()
        with self.phone.web("shop.html"):
            self.assertIn("★★★★", self.phone.settled())


class FirefoxInvitationsTest(InvitationsTest):
    browser = Firefox


if __name__ == "__main__":
    unittest.main()
