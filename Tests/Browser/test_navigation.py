"""Pages close, and the phone, the live stack and the browser's history stay consistent."""

import unittest

from demo_case import DemoCase

SHOP = "/demo/pages/shop.html"
WALK = ["native://walk/c", "native://walk/b", "native://walk/a", "native://walk/m"]


class NavigationTest(DemoCase):
    def walk_to_c(self):
        self.phone.press("native://home", "Trip notes")
        self.phone.press("native://walk/m", "Write a note")
        self.phone.press("native://walk/a", "Next")
        self.phone.press("native://walk/b", "Next")
        self.phone.surface("native://walk/c")
        self.phone.wait_for_stack(*WALK, "native://home")

    def history_depth(self):
        return self.driver.execute_script("return history.state.depth")

    def test_publish_returns_to_first_page_with_result(self):
        self.walk_to_c()
        self.screenshot("walk-c")
        self.phone.press("native://walk/c", "Publish")
        self.assertEqual(
            self.phone.result("native://walk/m"), "“Ridge at dawn” published for everyone"
        )
        self.phone.wait_for_stack("native://walk/m", "native://home")
        self.screenshot("walk-published")

    def test_back_button_closes_each_page(self):
        self.walk_to_c()
        for page, below in zip(WALK, WALK[1:]):
            self.phone.press(page, "Back")
            self.phone.surface(below)
        self.assertEqual(self.phone.result("native://walk/m"), "dismissed")

    def test_browser_back_closes_page_of_app(self):
        self.open_shop()
        with self.phone.web("shop.html"):
            self.phone.button("Choose an address").click()
        self.phone.wait_for_stack("native://address/list", SHOP, "native://home")
        self.driver.back()
        with self.phone.web("shop.html"):
            self.assertEqual(self.phone.settled(), "dismissed")
        self.driver.back()
        self.phone.surface("native://home")
        self.phone.wait_for_stack("native://home")

    def test_changed_review_is_asked_before_it_closes(self):
        self.open_shop()
        with self.phone.web("shop.html"):
            self.phone.button("Write a review").click()
        self.phone.surface("review.html")
        with self.phone.web("review.html"):
            self.phone.find("textarea").send_keys(" Still good.")
        # The guard is in force once its request has a response.
        self.phone.wait(lambda: ["web", "out", "page.setGuard", "result"] in self.phone.messages(), "the guard")
        for _ in range(2):
            self.driver.back()
            with self.phone.web("review.html"):
                self.phone.button("Keep writing").click()
            self.phone.wait(lambda: self.history_depth() == 2, "the history of the page that stays open")
        self.phone.press("review.html", "Back")
        with self.phone.web("review.html"):
            discard = self.phone.button("Discard")
            self.screenshot("leave-guard")
            discard.click()
        with self.phone.web("shop.html"):
            self.assertEqual(self.phone.settled(), "dismissed")
        self.phone.wait_for_stack(SHOP, "native://home")

    def test_browser_back_closes_flutter_page(self):
        self.phone.press("native://home", "Counter")
        self.phone.wait_for_stack("flutter://counter", "native://home")
        self.driver.back()
        self.assertEqual(self.phone.result("native://home"), "dismissed")

    def test_multiple_browser_back_steps_close_multiple_pages(self):
        self.walk_to_c()
        self.phone.wait(lambda: self.history_depth() == 4, "the history")
        self.driver.execute_script("history.go(-3)")
        self.phone.wait_for_stack("native://walk/m", "native://home")
        self.assertEqual(self.phone.result("native://walk/m"), "dismissed")

    def test_browser_history_follows_pages_closed_by_app(self):
        self.walk_to_c()
        self.phone.wait(lambda: self.history_depth() == 4, "the history")
        self.phone.press("native://walk/c", "Publish")
        self.phone.surface("native://walk/m")
        self.phone.wait(lambda: self.history_depth() == 1, "the history")
        self.driver.back()
        self.phone.wait_for_stack("native://home")
        self.assertTrue(self.driver.current_url.endswith("/demo/"))

    def test_browser_forward_does_not_reopen_page(self):
        self.open_shop()
        self.phone.wait(lambda: self.history_depth() == 1, "the history")
        self.driver.back()
        self.phone.wait_for_stack("native://home")
        self.driver.forward()
        self.phone.wait(lambda: self.history_depth() == 0, "the history")
        self.phone.surface("native://home")
        self.assertEqual([uri for _, uri in self.phone.stack()], ["native://home"])
        self.open_shop()
        self.phone.wait_for_stack(SHOP, "native://home")

    def test_live_stack_shows_technology_and_nested_modals(self):
        self.open_shop()
        with self.phone.web("shop.html"):
            self.phone.button("Who made it?").click()
        with self.phone.flutter():
            self.phone.button("Share profile", self.phone.flutter_page("Profile")).click()
        self.phone.surface("native://share/sheet")
        self.phone.wait(
            lambda: self.phone.stack()
            == [
                ["native", "native://share/sheet"],
                ["flutter", "flutter://profile/7"],
                ["web", SHOP],
                ["native", "native://home"],
            ],
            "the stack",
        )
        nested = self.phone.find("#stack > li[data-technology=flutter] > .modal")
        self.assertIn("native://share/sheet", nested.text)
        self.screenshot("stack-of-three")


if __name__ == "__main__":
    unittest.main()
