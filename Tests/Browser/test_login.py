"""A call that needs a login is held until the user has logged in, and then continues."""

import unittest

from demo_case import DemoCase

DISCOVER = "native://discover"
LOGIN = "native://login"
ORDERS = "native://orders?filter=open"


class LoginTest(DemoCase):
    def open_orders(self):
        self.phone.tab("Discover")
        self.phone.press(DISCOVER, "My orders")

    @property
    def me(self):
        return self.phone.flutter_page("Me")

    def test_call_continues_after_required_login(self):
        self.open_orders()
        page = self.phone.surface(LOGIN)
        self.assertEqual(page.get_attribute("role"), "dialog")
        self.assertIn(ORDERS, page.text)
        self.phone.wait_for_stack(LOGIN, DISCOVER)
        self.phone.button("Log in", page).click()

        orders = self.phone.surface(ORDERS)
        self.assertIn("On their way", orders.text)
        self.assertNotIn("Trail mug", orders.text)
        self.phone.wait_for_stack(ORDERS, DISCOVER)
        self.phone.button("Rain cape", orders).click()
        self.assertEqual(self.phone.result(DISCOVER), "1042, Rain cape")

        self.phone.press(DISCOVER, "My orders")
        self.phone.surface(ORDERS)

    def test_dismissed_login_rejects_the_call(self):
        self.open_orders()
        self.phone.press(LOGIN, "Close")
        self.assertRegex(self.phone.result(DISCOVER), r"^2423 .*nobody has logged in")
        self.phone.wait_for_stack(DISCOVER)
        self.screenshot("login-refused")
        self.phone.press(DISCOVER, "My orders")
        self.phone.surface(LOGIN)

    def test_two_calls_share_one_login(self):
        self.phone.tab("Me")
        with self.phone.flutter():
            button = self.phone.button("My orders", self.me)
            self.driver.execute_script("arguments[0].click(); arguments[0].click()", button)
        self.phone.wait_for_stack(LOGIN, "flutter://me")
        self.phone.press(LOGIN, "Log in")
        self.phone.wait_for_stack("native://orders", "native://orders", "flutter://me")

    def test_account_page_logs_in_and_out(self):
        self.phone.tab("Me")
        with self.phone.flutter():
            self.assertIn("Not logged in", self.me.text)
            self.phone.button("Log in", self.me).click()
        field = self.phone.find("input[name=name]", self.phone.surface(LOGIN))
        field.clear()
        field.send_keys("Jonas Lie")
        self.phone.press(LOGIN, "Log in")
        with self.phone.flutter():
            self.phone.wait(lambda: "Jonas Lie" in self.me.text, "the name")
            self.phone.button("My orders", self.me).click()
        self.phone.press("native://orders", "Trail mug")
        with self.phone.flutter():
            self.phone.wait(
                lambda: "Order 1041: delivered" in self.phone.find("#snack").text, "the notice"
            )
            self.phone.button("Log out", self.me).click()
            self.phone.wait(lambda: "Not logged in" in self.me.text, "the logout")
            self.phone.button("My orders", self.me).click()
        self.phone.press(LOGIN, "Close")
        with self.phone.flutter():
            self.phone.wait(lambda: "2423" in self.phone.find("#snack").text, "the refusal")

    def test_account_page_shows_login_from_another_page(self):
        self.phone.tab("Me")
        with self.phone.flutter():
            self.assertIn("Not logged in", self.me.text)
        self.open_orders()
        self.phone.press(LOGIN, "Log in")
        self.phone.surface(ORDERS)
        self.phone.tab("Me")
        with self.phone.flutter():
            self.phone.wait(lambda: "Mira Holm" in self.me.text, "the name")


if __name__ == "__main__":
    unittest.main()
