"""Every page fits its screen, on a phone and on a desk, light and dark."""

import unittest

from demo_case import DemoCase

PHONE = (390, 844)
DESK = (1280, 800)


class LayoutTest(DemoCase):
    def check(self, name):
        """Nothing is too wide or cut off in this document and in those of the frames that are shown; keeps a picture."""
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
        self.phone.press("native://discover", "From the future")
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

    def test_every_page_fits_a_phone_in_the_light(self):
        self.visit("phone-light")

    def test_every_page_of_the_other_tabs_fits_a_phone_in_the_light(self):
        self.visit_discover("phone-light")

    def test_the_stack_and_the_messages_stay_in_sight_while_the_phone_acts(self):
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


class PhoneDarkTest(LayoutTest):
    size = PHONE
    dark = True

    def test_every_page_fits_a_phone_in_the_dark(self):
        self.visit("phone-dark")

    def test_every_page_of_the_other_tabs_fits_a_phone_in_the_dark(self):
        self.visit_discover("phone-dark")


class DeskLightTest(LayoutTest):
    size = DESK

    def test_every_page_fits_a_desk_in_the_light(self):
        self.visit("desk-light")

    def test_every_page_of_the_other_tabs_fits_a_desk_in_the_light(self):
        self.visit_discover("desk-light")


class DeskDarkTest(LayoutTest):
    size = DESK
    dark = True

    def test_every_page_fits_a_desk_in_the_dark(self):
        self.visit("desk-dark")

    def test_every_page_of_the_other_tabs_fits_a_desk_in_the_dark(self):
        self.visit_discover("desk-dark")

    def test_dark_is_dark_in_every_frame(self):
        self.open_shop()
        dark = "return matchMedia('(prefers-color-scheme: dark)').matches && getComputedStyle(document.body).backgroundColor"
        self.assertEqual(self.driver.execute_script(dark), "rgb(14, 13, 20)")
        with self.phone.web("shop.html"):
            self.assertEqual(self.driver.execute_script(dark), "rgb(24, 22, 33)")
            self.phone.button("Who made it?").click()
        with self.phone.flutter():
            self.assertEqual(self.driver.execute_script(dark), "rgb(17, 20, 24)")


class GlidingTest(DemoCase):
    COUNT = """
      window.glides = 0;
      const { animate } = Element.prototype;
      Element.prototype.animate = function (...arguments) { glides += 1; return animate.apply(this, arguments); };
    """

    def there_and_back(self):
        self.driver.execute_script(self.COUNT)
        self.phone.press("native://home", "Addresses")
        surface = self.phone.surface("native://address/list")
        self.phone.settle()
        came = self.driver.execute_script("return glides")
        self.phone.button("Back", surface).click()
        self.phone.surface("native://home")
        self.phone.settle()
        return came, self.driver.execute_script("return glides") - came


class MotionTest(GlidingTest):
    """Pages glide, unless the user asked for less motion."""

    motion = True

    def test_a_page_glides_in_and_out_and_leaves_nothing_behind(self):
        self.assertEqual(self.there_and_back(), (1, 1))
        left = self.driver.find_elements("css selector", ".surface:not(iframe)")
        self.assertEqual([e.get_attribute("data-uri") for e in left], ["native://home"])

    def test_a_sheet_over_a_flutter_page_comes_and_goes(self):
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



class CalmTest(GlidingTest):
    def test_nothing_glides_where_less_motion_is_wanted(self):
        self.assertEqual(self.there_and_back(), (0, 0))


class BetweenTest(LayoutTest):
    size = (1024, 768)

    def test_a_middling_window_is_not_too_wide(self):
        self.phone.find("#explain button").click()
        self.phone.find(".verdict")
        self.check("middling")


if __name__ == "__main__":
    unittest.main()
