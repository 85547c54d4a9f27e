"""Tabs keep their pages, independently of one another."""

import unittest

from demo_case import DemoCase

HOME = "native://home"
DISCOVER = "native://discover"
ME = "flutter://me"
SHOP = "/demo/pages/shop.html"


class TabsTest(DemoCase):
    def history_depth(self):
        return self.driver.execute_script("return history.state.depth")

    def current(self):
        return self.phone.find(".tab[aria-current=page]").text

    def seen(self):
        """The visible pages, except those of the Flutter view."""
        return self.driver.execute_script(
            """return [...document.querySelectorAll(".surface[data-uri]")]
                 .filter((e) => e.checkVisibility({ visibilityProperty: true })).map((e) => e.dataset.uri)"""
        )

    def test_open_page_of_another_tab_gets_new_parameters_without_reload(self):
        self.open_shop()
        with self.phone.web("shop.html"):
            self.assertEqual(self.phone.find("#color").text, "cream")
            self.driver.execute_script("window.isSame = true")
        self.phone.tab("Discover")
        self.phone.press(DISCOVER, "The blue mug")
        self.phone.wait_for_stack(f"{SHOP}?color=blue", HOME)
        self.assertEqual(self.current(), "Home")
        with self.phone.web("shop.html"):
            self.phone.wait(lambda: self.phone.find("#color").text == "blue", "the new color")
            self.assertTrue(self.driver.execute_script("return window.isSame"))
            self.screenshot("live-parameter")
            # The address of the page keeps the parameter.
            self.driver.execute_script("location.reload()")
            self.phone.wait(lambda: not self.driver.execute_script("return window.isSame ?? false"), "the reload")
            self.phone.wait(lambda: self.phone.find("#color").text == "blue", "the color after a reload")
        self.phone.press("shop.html", "Back")
        self.assertEqual(self.phone.result(HOME), "dismissed")

    def test_each_tab_keeps_its_pages(self):
        self.phone.press(HOME, "Addresses")
        self.phone.wait_for_stack("native://address/list", HOME)
        self.phone.tab("Discover")
        self.phone.surface(DISCOVER)
        self.assertEqual(self.current(), "Discover")
        self.phone.wait_for_stack(DISCOVER)
        self.phone.press(DISCOVER, "A URI of a later version")
        self.phone.surface("native://upgrade")

        self.phone.tab("Home")
        self.phone.surface("native://address/list")
        self.phone.wait_for_stack("native://address/list", HOME)
        self.assertEqual(self.seen(), ["native://address/list"])
        self.phone.tab("Discover")
        self.phone.surface("native://upgrade")
        self.phone.tab("Home")
        self.phone.press("native://address/list", "Studio")
        self.assertEqual(self.phone.result(HOME), "Studio, Bergen")

    def test_flutter_view_shows_a_tab(self):
        self.phone.tab("Me")
        with self.phone.flutter():
            page = self.phone.flutter_page("Me")
            self.assertEqual(page.find_elements("css selector", "[aria-label=Back]"), [])
            self.phone.button("Find a trip", page).click()
        self.phone.surface(DISCOVER)
        self.assertEqual(self.current(), "Discover")

    def test_flutter_view_shows_page_of_selected_tab(self):
        self.phone.press(HOME, "Mira")
        with self.phone.flutter():
            self.phone.flutter_page("Profile")
        self.phone.tab("Me")
        with self.phone.flutter():
            self.phone.flutter_page("Me")
        self.phone.tab("Home")
        with self.phone.flutter():
            self.phone.button("Follow", self.phone.flutter_page("Profile")).click()
        self.assertEqual(self.phone.result(HOME), "following Mira Holm")
        self.phone.tab("Me")
        with self.phone.flutter():
            self.phone.flutter_page("Me")

    def test_browser_back_stays_within_tab(self):
        self.phone.press(HOME, "Trip notes")
        self.phone.press("native://walk/m", "Write a note")
        self.phone.surface("native://walk/a")
        self.phone.tab("Discover")
        self.phone.press(DISCOVER, "A URI of a later version")
        self.phone.surface("native://upgrade")
        self.phone.wait(lambda: self.history_depth() == 1, "the history")
        self.driver.back()
        self.phone.surface(DISCOVER)
        self.phone.tab("Home")
        self.phone.surface("native://walk/a")
        self.phone.wait(lambda: self.history_depth() == 2, "the history")
        self.driver.back()
        self.phone.surface("native://walk/m")
        self.driver.back()
        self.phone.wait_for_stack(HOME)
        self.assertEqual(self.current(), "Home")

    def test_pressing_current_tab_returns_to_first_page(self):
        self.phone.press(HOME, "Trip notes")
        self.phone.press("native://walk/m", "Write a note")
        self.phone.surface("native://walk/a")
        self.phone.tab("Home")
        self.assertEqual(self.phone.result(HOME), "dismissed")
        self.phone.wait_for_stack(HOME)

    def test_live_stack_shows_inactive_tabs(self):
        self.phone.press(HOME, "Addresses")
        self.phone.surface("native://address/list")
        self.phone.tab("Discover")
        self.phone.press(DISCOVER, "Plan a trip")
        self.phone.surface("native://plan/place")
        self.assertEqual(self.phone.find("#stack-tab").text, f"Tab {DISCOVER}")
        self.phone.wait_for_stack("native://plan/place", DISCOVER)
        waiting = [e.text.split("\n") for e in self.driver.find_elements("css selector", "#beside section")]
        self.assertEqual(waiting[0][0], f"Tab {HOME} · in the background")
        self.assertEqual([line for line in waiting[0][1:] if "://" in line], ["native://address/list", HOME])
        self.assertEqual(waiting[1], [f"Tab {ME} · not opened"])
        self.screenshot("stack-of-tabs")

    def test_tab_of_lost_host_is_restored_with_host(self):
        self.phone.tab("Me")
        with self.phone.flutter():
            self.phone.flutter_page("Me")
        self.phone.button("Disconnect Flutter").click()
        vacant = self.phone.find(".vacant")
        self.assertIn("The client that showed the pages of Me has disconnected", vacant.text)
        self.screenshot("tab-vacant")
        self.phone.button("Open it again", vacant).click()
        self.phone.toast("2504")
        self.phone.button("Restart Flutter").click()
        with self.phone.flutter():
            self.phone.flutter_page("Me")
        self.assertFalse(vacant.is_displayed())

    def test_tab_with_failed_page_is_not_shown(self):
        self.phone.button("Disconnect Flutter").click()
        self.phone.button("Restart Flutter")
        self.phone.tab("Me")
        self.phone.toast("2504")
        self.assertEqual(self.current(), "Home")
        self.phone.surface(HOME)


if __name__ == "__main__":
    unittest.main()
