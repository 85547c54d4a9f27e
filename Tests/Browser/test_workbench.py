"""What stands beside the phone, and what happens when a member of the session goes away."""

import unittest

from selenium.webdriver.common.by import By

from demo_case import DemoCase

SHOP = "/demo/pages/shop.html"


class WorkbenchTest(DemoCase):
    def test_cutting_the_flutter_connection_fails_its_pages_and_no_others(self):
        self.open_shop()
        with self.phone.web("shop.html"):
            self.phone.button("Who made it?").click()
        self.phone.wait_for_stack("flutter://profile/7", SHOP, "native://home")
        self.phone.button("Cut the Flutter connection").click()
        with self.phone.web("shop.html"):
            self.assertRegex(self.phone.settled(), r"^failed · 2504 ")
        self.phone.wait_for_stack(SHOP, "native://home")
        self.screenshot("flutter-cut")

        with self.phone.web("shop.html"):
            self.phone.button("Who made it?").click()
            self.phone.wait(lambda: self.phone.settled().startswith("2504 "), "the error 2504")
            self.phone.button("Choose an address").click()
        self.phone.press("native://address/list", "Home")
        with self.phone.web("shop.html"):
            self.assertEqual(self.phone.settled(), "Home, 12 Larch Lane, Bergen")

        self.phone.button("Restart Flutter").click()
        self.phone.wait(
            lambda: self.phone.find("#engine").text == "Flutter: connected", "the new Flutter view"
        )
        with self.phone.web("shop.html"):
            self.phone.button("Who made it?").click()
        with self.phone.flutter():
            self.phone.button("Follow", self.phone.flutter_page("Profile")).click()
        with self.phone.web("shop.html"):
            self.assertEqual(self.phone.settled(), "you follow Mira Holm")

    def test_a_flutter_page_beneath_others_goes_and_they_stay(self):
        self.phone.press("native://home", "Mira")
        with self.phone.flutter():
            self.phone.button("Meet somewhere", self.phone.flutter_page("Profile")).click()
        self.phone.surface("native://address/list")
        self.phone.button("Cut the Flutter connection").click()
        self.phone.wait_for_stack("native://address/list", "native://home")
        self.phone.press("native://address/list", "Back")
        self.assertRegex(self.phone.result("native://home"), r"^failed · 2504 ")

    def test_the_messages_of_all_three_are_shown_as_they_pass(self):
        self.open_shop()
        with self.phone.web("shop.html"):
            self.phone.button("Who made it?").click()
        self.phone.wait_for_stack("flutter://profile/7", SHOP, "native://home")
        with self.phone.flutter():
            self.phone.button("Follow", self.phone.flutter_page("Profile")).click()
        with self.phone.web("shop.html"):
            self.phone.settled()
        for message in (
            ["shell", "out", "session.open", "request"],
            ["web", "out", "router.open", "request"],
            ["flutter", "in", "page.open", "request"],
            ["web", "in", "$/progress", "notification"],
            ["flutter", "out", "navigation.finish", "request"],
            ["web", "in", "router.open", "result"],
        ):
            self.phone.wait(lambda: message in self.phone.messages(), str(message))

    def test_a_message_opens_to_its_json_without_the_keys_of_the_session(self):
        first = self.driver.find_elements(By.CSS_SELECTOR, "#messages .message")[-2]
        self.assertEqual(first.find_element(By.CSS_SELECTOR, ".message-title").text, "session.open")
        first.find_element(By.TAG_NAME, "summary").click()
        body = self.phone.find("pre", first)
        self.phone.wait(lambda: '"joinToken"' in body.text, "the JSON")
        self.assertRegex(body.text, r'"joinToken": ".{4}…"')
        self.screenshot("message-open")

    def test_messages_pause_and_clear(self):
        self.phone.button("Pause").click()
        self.phone.button("Clear").click()
        self.open_shop()
        self.assertEqual(self.phone.messages(), [])
        self.phone.wait(lambda: "missed" in self.phone.find("#pause").text, "the count")
        self.phone.find("#pause").click()
        self.phone.press("shop.html", "Back")
        self.phone.wait(lambda: self.phone.messages(), "messages")

    def test_at_most_200_messages_are_kept(self):
        self.phone.press("native://home", "Outfitters")
        with self.phone.web("shop.html"):
            self.driver.execute_script(
                """const { report } = await import("../shared/frame.js");
                   for (let id = 0; id < 300; id += 1) {
                     report({ demo: "message", direction: "out", text: JSON.stringify({ id, method: "m" }) });
                   }"""
            )
        self.phone.wait(lambda: len(self.phone.messages()) == 200, "200 messages")


if __name__ == "__main__":
    unittest.main()
