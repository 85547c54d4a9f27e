"""Every text has a contrast of at least 4.5 to what lies behind it, computed from what the browser draws."""

import unittest

from demo_case import DemoCase
from readable import pale


class ContrastTest(DemoCase):
    def check(self, what):
        self.assertEqual(pale(self.driver), [], what)

    def walk(self, size, dark):
        self.driver.show(size, dark)
        self.check("home")
        self.open_shop()
        with self.phone.web("shop.html"):
            self.phone.button("Choose an address").click()
        self.phone.surface("native://address/list")
        if size[0] > 899:
            self.phone.find("#reload-page").click()
            self.phone.wait(lambda: "loaded again" in self.phone.row("router.open").text, "the resumed call")
            self.phone.button("native://future/thing").click()
            self.phone.find(".verdict")
            self.phone.row("router.open").find_element("css selector", "summary").click()
            self.phone.find(".message-inside .code")
        self.check("a call waits")
        self.phone.press("native://address/list", "Studio")
        with self.phone.web("shop.html"):
            self.phone.settled()
            self.check("shop")
            self.phone.button("Leave the app").click()
            self.phone.wait(lambda: "Elsewhere" in self.phone.find(".result").text, "the refusal")
            self.check("an error")
            self.phone.button("Who made it?").click()
        with self.phone.flutter():
            self.phone.flutter_page("Profile")
            self.check("flutter")
            self.phone.button("Share profile", self.phone.flutter_page("Profile")).click()
        self.phone.surface("native://share/sheet")
        self.check("a sheet")

    def test_a_desk_in_the_light(self):
        self.walk((1280, 800), False)

    def test_a_desk_in_the_dark(self):
        self.walk((1280, 800), True)

    def test_a_phone_in_the_light(self):
        self.walk((390, 844), False)

    def test_a_phone_in_the_dark(self):
        self.walk((390, 844), True)

    def test_what_is_too_faint_is_found(self):
        self.driver.execute_script("document.getElementById('steps-title').style.color = '#999'")
        self.assertEqual(pale(self.driver), ["H2.: 2.85 Try it in a minute"])


if __name__ == "__main__":
    unittest.main()
