"""Every page fits its screen, on a phone and on a desktop, light and dark."""

import unittest

from accessibility import small_targets
from browser import SCREENSHOTS
from demo_case import DemoCase

PHONE = (390, 844)
DESK = (1280, 800)
# The dark theme only changes colors, which `test_contrast.py` judges: the walks in it are for their pictures.
FOR_PICTURES = unittest.skipUnless(SCREENSHOTS, "SCREENSHOTS names no folder for pictures")


class LayoutTest(DemoCase):
    def check(self, name):
        """Nothing is too wide or cut off in this document and in visible frames; saves a screenshot."""
        self.screenshot(name)
        self.assertEqual(self.phone.overflow(), [], f"{name}: too wide")
        self.assertEqual(self.phone.cut(), [], f"{name}: cut off")
        surface = self.phone.find(".surface.top")
        frames = [surface] if surface.tag_name == "iframe" else surface.find_elements("css selector", "iframe")
        for frame in frames:
            self.driver.switch_to.frame(frame)
            self.assertEqual(self.phone.overflow(), [], f"{name}: too wide in its frame")
            self.assertEqual(self.phone.cut(), [], f"{name}: cut off in its frame")
            self.driver.switch_to.default_content()

    def visit(self, prefix):
        self.check(f"{prefix}-home")
        self.open_shop()
        self.check(f"{prefix}-shop")
        with self.phone.web("shop.html"):
            self.phone.button("Who made it?").click()
        with self.phone.flutter():
            self.phone.flutter_page("Profile")
        self.check(f"{prefix}-flutter")
        with self.phone.flutter():
            self.phone.button("Meet at the workshop", self.phone.flutter_page("Profile")).click()
        self.phone.surface("native://address/a2")
        self.check(f"{prefix}-address")
        self.phone.press("native://address/a2", "Take this address")
        with self.phone.flutter():
            page = self.phone.flutter_page("Profile")
            self.phone.wait(lambda: "Studio" in self.phone.find("#snack").text, "the notice")
            self.phone.button("Share profile", page).click()
        self.phone.surface("native://share/sheet")
        self.check(f"{prefix}-sheet")
        if self.size == PHONE:
            for view in ("Stack", "Messages", "Explain"):
                self.phone.button(view, self.phone.find("#views")).click()
                self.phone.find(f"#{view.lower()}-panel")
                shown = [e for e in self.driver.find_elements("css selector", "main > section") if e.is_displayed()]
                self.assertEqual([e.get_attribute("id") for e in shown], [f"{view.lower()}-panel"])
                self.screenshot(f"{prefix}-{view.lower()}")
                self.assertEqual(self.phone.overflow(), [], f"{view} is too wide")
                self.assertEqual(self.phone.cut(), [], f"{view} is cut off")
            self.phone.button("Phone", self.phone.find("#views")).click()
        self.phone.press("native://share/sheet", "Copy link")
        with self.phone.flutter():
            self.phone.button("Back", self.phone.flutter_page("Profile")).click()
        self.phone.surface("shop.html")
        with self.phone.web("shop.html"):
            self.phone.button("Write a review").click()
        with self.phone.web("review.html"):
            self.phone.find("#send")
        self.check(f"{prefix}-review")
        self.phone.press("review.html", "Back")
        with self.phone.web("shop.html"):
            self.phone.button("Write a trip note").click()
        self.phone.press("native://walk/m", "Write a note")
        self.phone.surface("native://walk/a")
        self.check(f"{prefix}-write")
        self.phone.press("native://walk/a", "Next")
        self.phone.surface("native://walk/b")
        self.check(f"{prefix}-audience")
        self.phone.press("native://walk/b", "Next")
        self.phone.surface("native://walk/c")
        self.check(f"{prefix}-publish")

    def visit_discover(self, prefix):
        self.phone.tab("Discover")
        self.phone.surface("native://discover")
        self.check(f"{prefix}-discover")
        self.phone.press("native://discover", "Plan a trip")
        self.phone.surface("native://plan/place")
        self.check(f"{prefix}-modal")
        self.phone.press("native://plan/place", "Next")
        self.phone.surface("native://plan/time")
        self.check(f"{prefix}-modal-pushed")
        self.phone.press("native://plan/time", "Next")
        self.phone.press("native://plan/check", "Plan it")
        self.phone.surface("native://trip/Bergen")
        self.check(f"{prefix}-trip")
        self.phone.press("native://trip/Bergen", "Back")
        self.phone.press("native://discover", "A URI of a later version")
        self.phone.surface("native://upgrade")
        self.check(f"{prefix}-upgrade")
        self.phone.press("native://upgrade", "Back")
        self.phone.press("native://discover", "To another app")
        self.phone.surface("native://handoff")
        self.check(f"{prefix}-handoff")
        self.phone.press("native://handoff", "Close")
        self.phone.press("native://discover", "My orders")
        self.phone.surface("native://login")
        self.check(f"{prefix}-login")
        self.phone.press("native://login", "Log in")
        self.phone.surface("native://orders")
        self.check(f"{prefix}-orders")
        self.phone.tab("Me")
        with self.phone.flutter():
            page = self.phone.flutter_page("Me")
            self.phone.wait(lambda: "Mira Holm" in page.text, "the name")
        self.check(f"{prefix}-me")
        if self.size == PHONE:
            self.phone.button("Explain", self.phone.find("#views")).click()
        self.phone.find("#explain button").click()
        self.phone.find(".verdict")
        self.screenshot(f"{prefix}-explain")
        self.assertEqual(self.phone.overflow(), [], "the explanation is too wide")
        self.assertEqual(self.phone.cut(), [], "the explanation is cut off")


class PhoneLightTest(LayoutTest):
    size = PHONE

    def test_every_page_fits_phone_in_light_theme(self):
        self.visit("phone-light")

    def test_pages_of_other_tabs_fit_phone_in_light_theme(self):
        self.visit_discover("phone-light")

    def test_stack_and_messages_stay_visible_during_navigation(self):
        width, height = self.driver.execute_script(
            "const { width, height } = document.getElementById('screen').getBoundingClientRect(); return [width, height]"
        )
        self.assertEqual(width, 390)
        self.assertGreater(height, 370)
        self.open_shop()
        self.assertIn("shop.html", self.phone.find("#stack [aria-current] .stack-uri").text)
        self.assertIn("page.open", self.phone.row("page.open").text)
        within = """return [...document.querySelectorAll("#stack [aria-current], #messages > li:first-child, .tabs")]
                      .every((each) => { const { top, bottom } = each.getBoundingClientRect(); return top >= 0 && bottom <= innerHeight; })"""
        self.assertTrue(self.driver.execute_script(within))


    def test_toast_does_not_cover_result(self):
        self.open_shop()
        with self.phone.web("shop.html"):
            self.phone.button("Add to cart").click()
            self.phone.settled()
        self.phone.toast("Trail mug is in your cart")
        self.screenshot("phone-toast")
        covers = self.driver.execute_script(
            """const frame = document.querySelector(".surface.top iframe");
               const toast = document.querySelector(".toast").getBoundingClientRect();
               const result = frame.contentDocument.querySelector(".result").getBoundingClientRect();
               const { top } = frame.getBoundingClientRect();
               return toast.top < top + result.bottom && toast.bottom > top + result.top;"""
        )
        self.assertFalse(covers)

    def test_touch_targets_are_large_enough(self):
        self.assertEqual(small_targets(self.driver), [])
        self.open_shop()
        with self.phone.web("shop.html"):
            self.assertEqual(small_targets(self.driver), [])
        for view in ("Stack", "Messages", "Explain"):
            self.phone.button(view, self.phone.find("#views")).click()
            self.assertEqual(small_targets(self.driver), [], view)


class PhoneDarkTest(LayoutTest):
    size = PHONE
    dark = True

    @FOR_PICTURES
    def test_every_page_fits_phone_in_dark_theme(self):
        self.visit("phone-dark")

    @FOR_PICTURES
    def test_pages_of_other_tabs_fit_phone_in_dark_theme(self):
        self.visit_discover("phone-dark")


class DeskLightTest(LayoutTest):
    size = DESK

    def test_every_page_fits_desktop_in_light_theme(self):
        self.visit("desk-light")

    def test_pages_of_other_tabs_fit_desktop_in_light_theme(self):
        self.visit_discover("desk-light")


    def test_live_stack_shows_pages_of_guided_steps(self):
        self.open_shop()
        with self.phone.web("shop.html"):
            self.phone.button("Choose an address").click()
        self.phone.surface("native://address/list")
        self.phone.wait_for_stack("native://address/list", "/demo/pages/shop.html", "native://home")
        self.phone.wait(lambda: "awaited by web" in self.phone.find("#stack").text, "the call that waits")
        visible, whole = self.driver.execute_script("const { clientHeight, scrollHeight } = document.querySelector('.stacks'); return [clientHeight, scrollHeight]")
        self.assertGreaterEqual(visible, whole)


class DeskDarkTest(LayoutTest):
    size = DESK
    dark = True

    @FOR_PICTURES
    def test_every_page_fits_desktop_in_dark_theme(self):
        self.visit("desk-dark")

    @FOR_PICTURES
    def test_pages_of_other_tabs_fit_desktop_in_dark_theme(self):
        self.visit_discover("desk-dark")

    def test_dark_theme_applies_to_every_frame(self):
        self.open_shop()
        dark = "return matchMedia('(prefers-color-scheme: dark)').matches && getComputedStyle(document.body).backgroundColor"
        self.assertEqual(self.driver.execute_script(dark), "rgb(14, 13, 20)")
        with self.phone.web("shop.html"):
            self.assertEqual(self.driver.execute_script(dark), "rgb(24, 22, 33)")
            self.phone.button("Who made it?").click()
        with self.phone.flutter():
            self.assertEqual(self.driver.execute_script(dark), "rgb(17, 20, 24)")


class TransitionCase(DemoCase):
    COUNT = """
      window.glides = 0;
      const { animate } = Element.prototype;
      Element.prototype.animate = function (...arguments) { glides += 1; return animate.apply(this, arguments); };
    """

    def count_transitions(self):
        self.driver.execute_script(self.COUNT)
        self.phone.press("native://home", "Addresses")
        surface = self.phone.surface("native://address/list")
        self.phone.settle()
        opening = self.driver.execute_script("return glides")
        self.phone.button("Back", surface).click()
        self.phone.surface("native://home")
        self.phone.settle()
        return opening, self.driver.execute_script("return glides") - opening


class MotionTest(TransitionCase):
    """Pages slide, unless the user prefers reduced motion."""

    motion = True

    def test_page_transition_leaves_no_elements_behind(self):
        self.assertEqual(self.count_transitions(), (1, 1))
        left = self.driver.find_elements("css selector", ".surface:not(iframe)")
        self.assertEqual([e.get_attribute("data-uri") for e in left], ["native://home"])

    def test_sheet_over_flutter_page_opens_and_closes(self):
        self.phone.press("native://home", "Mira")
        self.phone.wait_for_stack("flutter://profile/7", "native://home")
        self.phone.settle()
        with self.phone.flutter():
            self.phone.button("Share profile", self.phone.flutter_page("Profile")).click()
        self.phone.surface("native://share/sheet")
        self.phone.settle()
        self.phone.press("native://share/sheet", "Mail")
        with self.phone.flutter():
            self.phone.wait(
                lambda: "Shared by mail" in self.phone.find("#snack").text, "the notice"
            )
            self.phone.button("Back", self.phone.flutter_page("Profile")).click()
        self.phone.surface("native://home")
        self.phone.settle()
        self.assertEqual(self.phone.result("native://home"), "dismissed")



class ReducedMotionTest(TransitionCase):
    def test_reduced_motion_disables_transitions(self):
        self.assertEqual(self.count_transitions(), (0, 0))


class MediumWindowTest(LayoutTest):
    size = (1024, 768)

    def test_medium_window_does_not_overflow(self):
        self.phone.find("#explain button").click()
        self.phone.find(".verdict")
        self.check("middling")


if __name__ == "__main__":
    unittest.main()
