"""Pages of one technology open pages and run tasks of another, and receive their results."""

import unittest

from demo_case import DemoCase

SHOP = "/demo/pages/shop.html"


class CallsTest(DemoCase):
    def test_swift_task_shows_native_share_sheet_to_web_page(self):
        self.open_shop()
        with self.phone.web("shop.html"):
            self.phone.button("Share this mug").click()
        sheet = self.phone.surface("native://share/sheet")
        self.assertEqual(sheet.get_attribute("role"), "dialog")
        self.assertIn("Trail mug", sheet.text)
        self.screenshot("share-sheet")
        self.phone.press("native://share/sheet", "Mail")
        with self.phone.web("shop.html"):
            self.assertEqual(self.phone.settled(), "shared by mail")

    def test_closing_share_sheet_shares_nothing(self):
        self.open_shop()
        with self.phone.web("shop.html"):
            self.phone.button("Share this mug").click()
        self.phone.press("native://share/sheet", "Close")
        with self.phone.web("shop.html"):
            self.assertEqual(self.phone.settled(), "not shared")

    def test_web_page_shows_address_picked_on_native_page(self):
        self.open_shop()
        with self.phone.web("shop.html"):
            self.phone.button("Choose an address").click()
        self.phone.press("native://address/list", "Studio")
        with self.phone.web("shop.html"):
            self.assertEqual(self.phone.settled(), "Studio, Quay 4, Loft 2, Bergen")
        self.screenshot("address-picked")

    def test_back_button_dismisses_address_page(self):
        self.open_shop()
        with self.phone.web("shop.html"):
            self.phone.button("Choose an address").click()
        self.phone.press("native://address/list", "Back")
        with self.phone.web("shop.html"):
            self.assertEqual(self.phone.settled(), "dismissed")

    def test_flutter_page_returns_result_to_web_page(self):
        self.open_shop()
        with self.phone.web("shop.html"):
            self.phone.button("Who made it?").click()
        self.phone.wait_for_stack("flutter://profile/7", SHOP, "native://home")
        with self.phone.flutter():
            self.phone.button("Follow", self.phone.flutter_page("Profile")).click()
        with self.phone.web("shop.html"):
            self.assertEqual(self.phone.settled(), "you follow Mira Holm")

    def test_flutter_page_returns_result_to_native_page(self):
        self.phone.press("native://home", "Counter")
        with self.phone.flutter():
            page = self.phone.flutter_page("Counter")
            self.phone.button("Increment", page).click()
            self.phone.button("Increment", page).click()
            self.phone.button("Done", page).click()
        self.assertEqual(self.phone.result("native://home"), "counted to 5")

    def test_flutter_page_opens_native_and_flutter_pages(self):
        self.phone.press("native://home", "Mira")
        with self.phone.flutter():
            self.phone.button("Works with Jonas", self.phone.flutter_page("Profile")).click()
        self.phone.wait_for_stack("flutter://profile/8", "flutter://profile/7", "native://home")
        with self.phone.flutter():
            self.phone.button("Meet somewhere", self.phone.flutter_page("Profile")).click()
        self.phone.press("native://address/list", "Grandmother")
        with self.phone.flutter():
            self.phone.wait(
                lambda: "Meeting at Grandmother" in self.phone.find("#snack").text, "the notice"
            )
            self.phone.button("Follow", self.phone.flutter_page("Profile")).click()
            self.phone.wait(
                lambda: "Following Jonas Lie" in self.phone.find("#snack").text, "the notice"
            )

    def test_web_page_receives_review_from_web_page(self):
        self.open_shop()
        with self.phone.web("shop.html"):
            self.phone.button("Write a review").click()
        with self.phone.web("review.html"):
            self.phone.button("Send review").click()
        with self.phone.web("shop.html"):
            self.assertEqual(self.phone.settled(), "★★★★ Dented twice, still my favourite.")

    def test_web_page_runs_task_of_shell(self):
        self.open_shop()
        with self.phone.web("shop.html"):
            self.phone.button("Add to cart").click()
            self.assertEqual(self.phone.settled(), "1 trail mug")
        self.phone.toast("Trail mug is in your cart")

    def test_page_rejected_by_shell_is_an_error(self):
        self.open_shop()
        with self.phone.web("shop.html"):
            self.phone.button("Leave the app").click()
            text = self.phone.settled()
        self.assertRegex(text, r"^2502 .*http://elsewhere\.invalid")
        self.phone.wait_for_stack(SHOP, "native://home")

    def test_web_page_closes_itself(self):
        self.open_shop()
        with self.phone.web("shop.html"):
            self.phone.button("Close page").click()
        self.assertEqual(self.phone.result("native://home"), "closed itself")

    def test_synchronous_swift_task_returns_immediately(self):
        self.phone.press("native://home", "Server time")
        self.assertRegex(self.phone.result("native://home"), r"^\d{4}-\d\d-\d\dT[\d:.]+Z$")

    def test_web_page_outside_of_app_shows_notice(self):
        self.driver.get(f"{self.server.address}/demo/pages/shop.html")
        self.assertIn("opened outside of the app", self.phone.find("#alone").text)
        self.assertFalse(self.phone.button("Share this mug").is_enabled())


if __name__ == "__main__":
    unittest.main()
