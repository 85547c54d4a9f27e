"""A modal has a stack of its own, and closes as a whole."""

import unittest

from demo_case import DemoCase

DISCOVER = "native://discover"
PLAN = ["native://plan/check", "native://plan/time", "native://plan/place"]


class ModalsTest(DemoCase):
    def plan(self):
        self.phone.tab("Discover")
        self.phone.press(DISCOVER, "Plan a trip")
        self.phone.press("native://plan/place", "Next")
        self.phone.press("native://plan/time", "Next")
        self.phone.surface("native://plan/check")
        self.phone.wait_for_stack(*PLAN, DISCOVER)

    def test_pages_of_modal_are_pushed_and_popped(self):
        self.plan()
        nested = self.phone.find("#stack > li > .modal")
        self.assertEqual(len(nested.find_elements("css selector", ":scope > li")), 3)
        for page, below in zip(PLAN, PLAN[1:]):
            self.assertEqual(self.phone.surface(page).get_attribute("role"), "dialog")
            self.phone.press(page, "Back")
            self.phone.surface(below)
        self.phone.press(PLAN[-1], "Close")
        self.assertEqual(self.phone.result(DISCOVER), "dismissed")
        self.phone.wait_for_stack(DISCOVER)

    def test_browser_back_closes_pages_of_modal(self):
        self.plan()
        for below in [*PLAN[1:], DISCOVER]:
            self.driver.back()
            self.phone.surface(below)

    def test_last_step_dismisses_modal_and_pushes_page_beneath(self):
        self.plan()
        self.assertTrue(self.phone.find(".tabs").get_property("inert"))
        self.phone.press("native://plan/check", "Plan it")
        trip = self.phone.surface("native://trip/Bergen")
        self.assertEqual(trip.get_attribute("role"), None)
        self.assertIn("this weekend", trip.text)
        self.phone.wait_for_stack("native://trip/Bergen", DISCOVER)
        self.assertEqual(self.driver.find_elements("css selector", ".sheet"), [])
        self.assertFalse(self.phone.find(".tabs").get_property("inert"))
        self.phone.press("native://trip/Bergen", "Back")
        self.assertEqual(self.phone.result(DISCOVER), "dismissed")


class ModalMotionTest(DemoCase):
    motion = True

    def glide(self, uri, text):
        """Presses a button once nothing moves any more, and waits until nothing moves again."""
        self.phone.surface(uri)
        self.phone.settle()
        self.phone.press(uri, text)
        self.phone.settle()

    def test_closed_modal_leaves_no_elements_behind(self):
        self.phone.tab("Discover")
        self.glide(DISCOVER, "Plan a trip")
        for page in ("place", "time"):
            self.glide(f"native://plan/{page}", "Next")
        self.screenshot("modal-after-motion")
        self.glide("native://plan/check", "Back")
        self.glide("native://plan/time", "Next")
        self.glide("native://plan/check", "Plan it")
        self.phone.surface("native://trip/Bergen")
        self.phone.settle()
        left = self.driver.find_elements("css selector", ".surface:not(iframe)")
        self.assertEqual(
            [e.get_attribute("data-uri") for e in left],
            ["native://home", DISCOVER, "native://trip/Bergen"],
        )

    def test_tab_switch_has_no_transition(self):
        self.driver.execute_script(
            """window.glides = 0;
               const { animate } = Element.prototype;
               Element.prototype.animate = function (...all) { glides += 1; return animate.apply(this, all); };"""
        )
        for tab, page in (("Discover", DISCOVER), ("Home", "native://home")):
            self.phone.tab(tab)
            self.phone.surface(page)
        self.assertEqual(self.driver.execute_script("return glides"), 0)


if __name__ == "__main__":
    unittest.main()
