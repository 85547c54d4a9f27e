"""The demo without a pointer."""

import unittest

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from demo_case import DemoCase

# The name of the focused element. A box that scrolls has none: in Firefox, the Tab key stops there too.
FOCUS = """
let active = document.activeElement;
while (active instanceof HTMLIFrameElement && active.contentDocument) active = active.contentDocument.activeElement;
return active?.matches("button, a, input, select, textarea, summary, iframe, [tabindex]") ? (active.getAttribute("aria-label") || active.textContent).trim() : "";
"""
# Lets the next Tab key reach the first element.
BEGIN = "document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex')"


class KeyboardTest(DemoCase):
    def keys(self, *keys):
        ActionChains(self.driver).send_keys(*keys).perform()

    def shift_tab(self):
        ActionChains(self.driver).key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT).perform()

    def focused(self):
        return self.driver.execute_script(FOCUS)

    def tab_to(self, text):
        for _ in range(60):  # past the messages beside the phone, too
            if text in self.focused():
                return
            if self.driver.execute_script("return document.activeElement === document.body"):
                # After the last element of a page, Firefox gives the keyboard to its own window.
                self.driver.switch_to.window(self.driver.current_window_handle)
                self.driver.execute_script(BEGIN)
            self.keys(Keys.TAB)
        self.fail(f"the tab key does not reach {text}; it stands on {self.focused()}")

    def enter(self, text):
        self.tab_to(text)
        self.keys(Keys.ENTER)

    def wait_for_focus(self, text):
        self.phone.wait(lambda: text in self.focused(), f"the focus on {text}")

    def test_address_selection_works_by_keyboard(self):
        self.enter("Outfitters")
        with self.phone.web("shop.html"):
            self.phone.button("Choose an address")
        self.enter("Choose an address")
        self.phone.surface("native://address/list")
        self.wait_for_focus("Addresses")
        self.enter("Studio")
        self.phone.surface("shop.html")
        self.wait_for_focus("Choose an address")
        with self.phone.web("shop.html"):
            self.assertIn("Studio", self.phone.settled())
        self.enter("Who made it?")
        self.phone.wait_for_stack("flutter://profile/7", "/demo/pages/shop.html", "native://home")
        self.enter("Follow")
        self.phone.surface("shop.html")
        with self.phone.web("shop.html"):
            self.phone.wait(
                lambda: self.phone.settled() == "you follow Mira Holm", "the profile's result"
            )

    def test_flutter_pages_return_focus_to_each_other(self):
        self.enter("Mira")
        self.phone.wait_for_stack("flutter://profile/7", "native://home")
        self.enter("Works with Jonas Lie")
        self.phone.wait_for_stack("flutter://profile/8", "flutter://profile/7", "native://home")
        # The heading has the focus. Firefox does not return to what precedes it when the Tab key enters the frame again.
        self.wait_for_focus("Profile")
        self.shift_tab()
        self.assertIn("Back", self.focused())
        self.keys(Keys.ENTER)
        self.wait_for_focus("Works with Jonas Lie")

    def test_escape_closes_sheet_and_returns_focus(self):
        self.enter("Share this app")
        self.phone.surface("native://share/sheet")
        self.wait_for_focus("Share")
        self.keys(Keys.ESCAPE)
        self.assertEqual(self.phone.result("native://home"), "not shared")
        self.wait_for_focus("Share this app")

    def test_escape_keeps_page_that_is_not_a_sheet(self):
        self.enter("Addresses")
        self.phone.surface("native://address/list")
        self.wait_for_focus("Addresses")
        self.keys(Keys.ESCAPE)
        self.enter("Home")
        self.assertEqual(self.phone.result("native://home"), "Home, Bergen")

    def test_tab_key_skips_content_behind_sheet(self):
        self.enter("Share this app")
        self.phone.surface("native://share/sheet")
        self.wait_for_focus("Share")
        seen = set()
        for _ in range(40):
            self.keys(Keys.TAB)
            seen.add(self.focused())
        self.assertIn("Copy link", seen)
        self.assertFalse(any("Outfitters" in name for name in seen), seen)

    def test_tab_key_stays_in_sheet(self):
        self.enter("Share this app")
        self.phone.surface("native://share/sheet")
        self.wait_for_focus("Share")
        stops = []
        for _ in range(5):
            self.keys(Keys.TAB)
            stops.append(self.focused())
        self.assertEqual(stops, ["Messages", "Mail", "Copy link", "Close", "Messages"])
        for _ in range(2):
            self.shift_tab()
        self.assertEqual(self.focused(), "Copy link")

    def test_tab_key_reaches_guided_steps_before_phone(self):
        stops = []
        while "Outfitters" not in (stops or [""])[-1]:
            self.assertLess(len(stops), 10, stops)
            self.keys(Keys.TAB)
            stops += [name for name in [self.focused()] if name]
        self.assertEqual(stops[-3:-1], ["Reload page", "Kill server"])

    def pressed_tab(self):
        return self.driver.execute_script(
            "return document.activeElement.matches('.tab[aria-current]') && document.activeElement.textContent"
        )

    def test_pressed_tab_keeps_focus(self):
        self.enter("Addresses")
        self.phone.surface("native://address/list")  # the button has the same name
        self.wait_for_focus("Addresses")
        self.enter("Studio")
        self.phone.surface("native://home")
        self.wait_for_focus("Addresses")
        self.enter("Discover")
        self.phone.surface("native://discover")
        self.assertEqual(self.pressed_tab(), "Discover")
        self.keys(Keys.TAB, Keys.ENTER)
        self.phone.wait_for_stack("flutter://me")
        self.assertEqual(self.pressed_tab(), "Me")

    def test_modal_returns_focus_page_by_page(self):
        self.enter("Discover")
        self.phone.surface("native://discover")
        self.enter("Plan a trip")
        self.wait_for_focus("Plan a trip")
        self.phone.surface("native://plan/place")
        self.enter("Next")
        self.phone.surface("native://plan/time")
        self.wait_for_focus("Time")
        self.keys(Keys.ESCAPE)
        self.wait_for_focus("Next")
        self.keys(Keys.ESCAPE)
        self.phone.surface("native://discover")
        self.wait_for_focus("Plan a trip")

    def test_uri_is_explained_by_keyboard(self):
        self.driver.execute_script("document.getElementById('explain-uri').focus()")
        self.keys(Keys.ENTER)
        self.assertIn("native://address/:id", self.phone.find("#explanation").text)
        self.tab_to("Explanation")

    def test_focused_element_has_visible_outline(self):
        self.tab_to("Outfitters")
        style = self.driver.execute_script(
            "const s = getComputedStyle(document.activeElement); return [s.outlineStyle, parseFloat(s.outlineWidth)]"
        )
        self.assertEqual(style[0], "solid")
        self.assertGreaterEqual(style[1], 2)
        self.screenshot("focus")

    def test_opened_page_does_not_steal_focus_from_panel(self):
        self.open_shop()
        with self.phone.web("shop.html"):
            self.driver.execute_script(
                "setTimeout(() => document.getElementById('address').click(), 300)"
            )
        self.driver.execute_script("document.getElementById('clear').focus()")
        self.phone.surface("native://address/list")
        self.assertEqual(self.focused(), "Clear")

    def test_message_opens_by_keyboard(self):
        self.enter("Start-up")
        self.keys(Keys.END, Keys.ENTER)
        self.assertIn("session.open", self.focused())
        self.assertIn('"jsonrpc": "2.0"', self.phone.find("#messages pre").text)

    def test_message_list_is_one_tab_stop(self):
        self.open_shop()
        stops = "return document.querySelectorAll('#messages summary[tabindex=\"0\"]').length"
        self.phone.wait(lambda: self.driver.execute_script(stops) == 1, "one stop")
        self.phone.find("#pause").click()  # so that no row comes between
        self.driver.execute_script("document.querySelector('#messages summary[tabindex=\"0\"]').focus()")
        for key in (Keys.HOME, Keys.ARROW_DOWN, Keys.ARROW_DOWN):
            self.keys(key)
        third = self.driver.execute_script(
            "return [...document.querySelectorAll('#messages summary')].filter((each) => each.checkVisibility()).indexOf(document.activeElement)"
        )
        self.assertEqual(third, 2)
        self.assertEqual(self.driver.execute_script(stops), 1)
        self.keys(Keys.END)
        self.assertIn("Start-up", self.focused())


if __name__ == "__main__":
    unittest.main()
