"""The site of the documentation: it is built without a warning, its links lead somewhere, and what is searched is found."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from readme import ROOT

sys.path.insert(0, str(ROOT / "Tests/Browser"))
from chromium import Chromium  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.wait import WebDriverWait  # noqa: E402

sys.path.insert(0, str(ROOT / "web/docs"))
from generator.site import Page, Site  # noqa: E402

SIZES = [(1280, 800), (390, 844)]
# What somebody types, and the title and the address of what comes first.
SEARCHES = [
    ("testbridge", "TestBridge", "swift/waybridgetesting/testbridge.html"),
    ("router intercept", "Router.intercept(_:on:priority:_:)", "swift/waybridge/router.html#intercept"),
    ("mockBridge", "mockBridge", "javascript/mock.html#mockBridge"),
    ("navigation.selectTab", "navigation.selectTab", "#navigation"),
    ("2504", "2504 hostAbsent", "codes.html#2504"),
    ("x-forwarded-for", "", ".html"),
    ("address picker", "Tutorial: a hybrid shop", "guides/tutorial.html"),
]


class Built(unittest.TestCase):
    """The whole site, built once by its command."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name) / "site"
        cls.done = subprocess.run([ROOT / "web/docs/build", "--output", cls.folder], capture_output=True, text=True)
        if cls.done.returncode == 0:
            cls.browser = Chromium(dark=False, motion=False)
            cls.addClassCleanup(cls.browser.quit)

    def setUp(self):
        # Each link that leads nowhere, and each warning of docc, is a fault here.
        self.assertEqual((0, ""), (self.done.returncode, self.done.stderr))

    def read(self, path):
        self.browser.get((self.folder / path).as_uri())

    def index(self):
        text = (self.folder / "search-index.js").read_text()
        return json.loads(text.removeprefix("globalThis.waybridgeIndex = ").removesuffix(";\n"))

    def test_every_guide_and_every_kind_of_reference_is_there(self):
        for path in (ROOT / "web/docs").glob("*.md"):
            if path.name != "README.md":
                self.assertTrue((self.folder / f"guides/{path.stem}.html").exists(), path.name)
        kinds = [kind for _, kind, *_ in self.index()]
        for kind, least in [("Swift structure", 50), ("Swift instance method", 200), ("JavaScript class", 5), ("method", 25), ("error", 20), ("section", 100)]:
            self.assertGreater(kinds.count(kind), least, kind)

    def test_search_finds_symbols_of_both_languages_and_words_of_guides(self):
        self.read("index.html")
        field = self.browser.find_element(By.ID, "search")
        for words, title, address in SEARCHES:
            with self.subTest(words):
                field.send_keys(Keys.CONTROL, "a")
                field.send_keys(words)
                WebDriverWait(self.browser, 20).until(lambda _: self.found(words))
                first = self.browser.find_element(By.CSS_SELECTOR, '#results [aria-selected="true"]')
                self.assertIn(title, first.text)
                self.assertIn(address, first.get_attribute("data-address"))
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys("testbridge")
        WebDriverWait(self.browser, 20).until(lambda _: self.found("testbridge"))
        field.send_keys(Keys.ENTER)
        WebDriverWait(self.browser, 20).until(lambda _: self.browser.find_element(By.TAG_NAME, "h1").text == "TestBridge")
        self.assertEqual([], self.browser.errors())

    def found(self, words):
        """Whether what is listed was found for these words."""
        listed = self.browser.find_elements(By.CSS_SELECTOR, "#results [role=option]")
        return listed and self.browser.execute_script("return document.querySelector('#search').value") == words and self.is_current(words)

    def is_current(self, words):
        """The list follows the field once the index is there: it has been, where the first has each word."""
        script = "const row = waybridgeIndex.find(([, , address]) => document.querySelector('#results li').dataset.address.endsWith(address)); return row.join(' ').toLowerCase()"
        first = self.browser.execute_script(script)
        return all(word in first for word in words.lower().split())

    def test_pages_fit_a_phone_and_a_window(self):
        for path in ["index.html", "protocol.html", "swift/waybridge/router.html", "javascript/bridge.html", "methods.html", "guides/tutorial.html"]:
            for size in SIZES:
                with self.subTest(path, size=size):
                    self.browser.show(size, dark=False)
                    self.read(path)
                    wide = self.browser.execute_script("return document.documentElement.scrollWidth - innerWidth")
                    self.assertLessEqual(wide, 0)
                    self.assertEqual([], self.browser.errors())

    def test_it_is_used_by_keys_alone(self):
        self.browser.show(SIZES[1], dark=True)
        self.read("protocol.html")
        body = self.browser.find_element(By.TAG_NAME, "body")
        body.send_keys(Keys.TAB)
        self.assertEqual("Skip to the text", self.browser.switch_to.active_element.text)
        body.send_keys("/")
        self.assertEqual("search", self.browser.switch_to.active_element.get_attribute("id"))
        menu = self.browser.find_element(By.ID, "menu")
        menu.send_keys(Keys.ENTER)
        self.assertEqual("true", menu.get_attribute("aria-expanded"))
        self.assertTrue(self.browser.find_element(By.LINK_TEXT, "Tutorial: a hybrid shop").is_displayed())

    def test_text_is_dark_enough_in_both_themes(self):
        for dark in (False, True):
            self.browser.show(SIZES[0], dark)
            for path in ["index.html", "guides/tutorial.html", "swift/waybridge/router.html", "javascript/bridge.html"]:
                with self.subTest(path, dark=dark):
                    self.read(path)
                    self.assertEqual([], self.browser.execute_script(CONTRAST))


# Texts whose contrast to what is behind them is less than 4.5 (WCAG 2.1, 1.4.3).
CONTRAST = """
const light = ([r, g, b]) => [r, g, b].map((part) => part / 255)
  .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
  .reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
const ground = (element) => {
  for (let each = element; each; each = each.parentElement) {
    const colour = parts(getComputedStyle(each).backgroundColor);
    if (colour.length === 3 || colour[3] === 1) return colour;
  }
  return [255, 255, 255];
};
const faint = new Map();
for (const element of document.querySelectorAll("body *")) {
  const text = [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data.trim()).join("");
  if (!text || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
  const [a, b] = [light(parts(getComputedStyle(element).color)), light(ground(element))].sort((one, other) => other - one);
  const contrast = (a + 0.05) / (b + 0.05);
  if (contrast < 4.5) faint.set(`${element.tagName}.${element.className}`, `${text.slice(0, 40)}: ${contrast.toFixed(2)}`);
}
return [...faint].map((each) => each.join(" "));
"""


class Faults(unittest.TestCase):
    """What the command finds, so that finding nothing means something."""

    def faults(self, *bodies):
        site = Site()
        for number, body in enumerate(bodies):
            site.add(Page(f"{number}.html", "A title", "", body, f"document {number}"))
        return site.faults()

    def test_a_link_to_no_page_to_no_anchor_and_out_of_the_site(self):
        body = '<h1 id="a">A</h1><a href="{}">b</a>'
        self.assertEqual([], self.faults(body.format("#a"), body.format("0.html#a"), body.format("https://example.org/")))
        self.assertEqual(["document 0: 7.html: there is no such page"], self.faults(body.format("7.html")))
        self.assertEqual(["document 0: #b: the page has no such anchor"], self.faults(body.format("#b")))
        self.assertEqual(["document 0: file:///etc/hosts: leads out of the site"], self.faults(body.format("file:///etc/hosts")))

    def test_two_anchors_of_a_name_and_a_page_without_a_title(self):
        self.assertEqual(["document 0: two things have the anchor 'a'"], self.faults('<h1 id="a">A</h1><p id="a"></p>'))
        self.assertEqual(["document 0: 0 titles (h1) in the place of one"], self.faults("<p></p>"))


class Pictures(unittest.TestCase):
    def test_the_architecture_is_that_of_the_sources(self):
        done = subprocess.run([ROOT / "web/docs/architecture", "--check"], capture_output=True, text=True)
        self.assertEqual((0, ""), (done.returncode, done.stderr))


if __name__ == "__main__":
    unittest.main()
