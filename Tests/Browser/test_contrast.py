"""Every text has a contrast of at least 4.5 to what lies behind it, computed from what the browser draws."""

import unittest

from demo_case import DemoCase

LEAST = 4.5

# Gives the texts of this document whose contrast is less, as "ratio text". What is disabled is exempt, as in WCAG 1.4.3.
WEAK = """
const [least] = arguments;
const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
const parsed = (colour) => {
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
  return [red, green, blue, alpha / 255];
};
const over = (front, back) => [0, 1, 2].map((part) => front[part] * front[3] + back[part] * (1 - front[3])).concat(1);
const behind = (element) => {
  if (!element) return [[255, 255, 255, 1]];
  const { backgroundColor, backgroundImage } = getComputedStyle(element);
  const stops = backgroundImage.match(/(?:rgba?|color)\\([^)]*\\)/g) ?? [];
  const own = parsed(backgroundColor);
  if (stops.length > 0) return stops.map((stop) => parsed(stop));
  return own[3] === 1 ? [own] : behind(element.parentElement).map((back) => over(own, back));
};
const light = ([...parts]) => {
  const [red, green, blue] = parts.map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};
const ratio = (one, other) => (Math.max(light(one), light(other)) + 0.05) / (Math.min(light(one), light(other)) + 0.05);
const weak = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
let count = 0;
while (walker.nextNode()) {
  const text = walker.currentNode.textContent.trim();
  const element = walker.currentNode.parentElement;
  if (!text || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) || element.closest("[inert], :disabled, fieldset:disabled")) continue;
  if (element.matches("svg *, script, style, textarea")) continue;
  count += 1;
  const least_ = Math.min(...behind(element).map((back) => ratio(over(parsed(getComputedStyle(element).color), back), back)));
  if (least_ < least) weak.push(`${least_.toFixed(2)} ${text.slice(0, 40)}`);
}
return [count, weak];
"""


class ContrastTest(DemoCase):
    def check(self, what):
        count, weak = self.driver.execute_script(WEAK, LEAST)
        self.assertGreater(count, 5, f"{what}: texts")
        self.assertEqual(weak, [], what)

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
        _, weak = self.driver.execute_script(WEAK, LEAST)
        self.assertEqual(weak, ["2.85 Try it in a minute"])


if __name__ == "__main__":
    unittest.main()
