"""Every text has a contrast of at least 4.5 to its background, computed from what the browser draws."""

import unittest

from accessibility import low_contrast_texts
from demo_case import DemoCase


class ContrastTest(DemoCase):
    def check(self, what):
        self.assertEqual(low_contrast_texts(self.driver), [], what)

    def check_pages(self, size, dark):
        self.driver.show(size, dark)
        self.check("home")
        self.open_shop()
        self.phone.wait_for_web_session()
        with self.phone.web("shop.html"):
            self.phone.button("Choose an address").click()
        self.phone.surface("native://address/list")
        if size[0] > 899:
            self.phone.find("#reload-page").click()
            self.phone.wait(lambda: "was reloaded" in self.phone.row("router.open", "web").text, "the resumed call")
            self.phone.button("native://future/thing").click()
            self.phone.find(".verdict")
            self.phone.open_row("router.open", "web")
            self.phone.find(".message-inside .code")
        self.check("a call waits")
        self.phone.press("native://address/list", "Studio")
        with self.phone.web("shop.html"):
            self.phone.settled()
            self.check("shop")
            self.phone.button("Leave the app").click()
            self.phone.find(".result[data-state=error]")
            self.check("an error")
            self.phone.button("Who made it?").click()
        with self.phone.flutter():
            self.phone.flutter_page("Profile")
            self.check("flutter")
            self.phone.button("Share profile", self.phone.flutter_page("Profile")).click()
        self.phone.surface("native://share/sheet")
        self.check("a sheet")

    def test_contrast_of_desktop_in_light_theme(self):
        self.check_pages((1280, 800), False)

    def test_contrast_of_desktop_in_dark_theme(self):
        self.check_pages((1280, 800), True)

    def test_contrast_of_phone_in_light_theme(self):
        self.check_pages((390, 844), False)

    def test_contrast_of_phone_in_dark_theme(self):
        self.check_pages((390, 844), True)

    def test_low_contrast_text_is_found(self):
        self.driver.execute_script("document.getElementById('steps-title').style.color = '#999'")
        self.assertEqual(low_contrast_texts(self.driver), ["H2.: 2.85 Guided steps"])


if __name__ == "__main__":
    unittest.main()
