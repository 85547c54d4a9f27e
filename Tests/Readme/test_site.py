"""The site of the documentation: it is built without a warning, its links lead somewhere, and what is searched is found."""

import functools
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from readme import ROOT

sys.path.insert(0, str(ROOT / "Tests/Browser"))
from accessibility import low_contrast_texts  # noqa: E402
from chromium import Chromium  # noqa: E402
from firefox import Firefox  # noqa: E402
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.wait import WebDriverWait  # noqa: E402

sys.path.insert(0, str(ROOT / "web/docs"))
from generator.site import Page, Site  # noqa: E402

SIZES = [(1280, 800), (390, 844)]
# What somebody types, and the title and the address of what comes first.
SEARCHES = [
    ("testbridge", "TestBridge", "swift/waybridgetesting/testbridge.html"),
    ("router intercept priority", "Router.intercept(_:on:priority:_:)", "swift/waybridge/router.html#intercept"),
    ("mockBridge", "mockBridge", "javascript/mock.html#mockBridge"),
    ("navigation.selectTab", "navigation.selectTab", "#navigation"),
    ("2504", "2504 hostAbsent", "codes.html#2504"),
    ("x-forwarded-for", "", ".html"),
    ("address picker", "Tutorial: a hybrid shop", "guides/tutorial.html"),
]


@functools.cache
def built():
    """The whole site, built by its command once for all browsers: its folder, and how the command ended."""
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    site = Path(folder.name) / "site"
    return site, subprocess.run([ROOT / "web/docs/build", "--output", site], capture_output=True, text=True)


class Built(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder, done = built()
        # Each link that leads nowhere, and each warning of docc, is a fault here.
        self.assertEqual((0, ""), (done.returncode, done.stderr))


class Contents(Built):
    def index(self):
        text = (self.folder / "search-index.js").read_text()
        return json.loads(text.removeprefix("globalThis.waybridgeIndex = ").removesuffix(";\n"))

    def test_all_guides_and_references_are_in_site(self):
        for path in (ROOT / "web/docs").glob("*.md"):
            if path.name != "README.md":
                self.assertTrue((self.folder / f"guides/{path.stem}.html").exists(), path.name)
        kinds = [kind for _, kind, *_ in self.index()]
        for kind, least in [("Swift structure", 50), ("Swift instance method", 200), ("JavaScript class", 5), ("method", 25), ("error", 20), ("section", 100)]:
            self.assertGreater(kinds.count(kind), least, kind)


class SitePages(Built):
    """The site as somebody reads it."""

    engine = Chromium

    @classmethod
    def setUpClass(cls):
        cls.browser = cls.engine(motion=False)
        cls.addClassCleanup(cls.browser.quit)

    def open(self, path, size=SIZES[0], dark=False):
        """Opens a page in a tab of this size and theme."""
        self.browser.prefer(dark, motion=False)
        self.browser.open_tab(size)
        self.read(path)

    def read(self, path):
        self.browser.get((self.folder / path).as_uri())

    def find(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def wait(self, condition):
        WebDriverWait(self.browser, 20, ignored_exceptions=[NoSuchElementException, StaleElementReferenceException]).until(lambda _: condition())

    def search(self, words):
        """Types words into the field, in place of what is there, and gives the first that is found."""
        field = self.find("#search")
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(words)
        self.wait(lambda: self.is_found(words))
        return self.find('#results [aria-selected="true"]')

    def is_found(self, words):
        """The list follows the field once the index is there: it has been, where the first has each word."""
        first = self.browser.execute_script(
            """const first = document.querySelector("#results [role=option]")?.dataset.address;
               return first ? waybridgeIndex.find(([, , address]) => first.endsWith(address)).join(" ").toLowerCase() : "" """
        )
        return first and self.browser.execute_script("return document.querySelector('#search').value") == words and all(word in first for word in words.lower().split())

    def test_search_finds_symbols_and_words_of_guides(self):
        self.open("index.html")
        for words, title, address in SEARCHES:
            with self.subTest(words):
                first = self.search(words)
                self.assertIn(title, first.text)
                self.assertIn(address, first.get_attribute("data-address"))
        self.search("testbridge")
        self.find("#search").send_keys(Keys.ENTER)
        self.wait(lambda: self.find("h1").text == "TestBridge")
        self.assertEqual([], self.browser.errors())

    def test_pages_fit_phone_and_desktop(self):
        for size in SIZES:
            self.open("index.html", size)
            for path in ["index.html", "protocol.html", "swift/waybridge/router.html", "javascript/bridge.html", "methods.html", "guides/tutorial.html"]:
                with self.subTest(path, size=size):
                    self.read(path)
                    wide = self.browser.execute_script("return document.documentElement.scrollWidth - innerWidth")
                    self.assertLessEqual(wide, 0)
                    self.assertEqual([], self.browser.errors())

    def test_cards_of_first_page_describe_what_they_lead_to(self):
        self.open("index.html")
        cards = self.browser.execute_script(
            "return [...document.querySelectorAll('.cards li')].map((card) => [...card.querySelectorAll('strong, span')].map((each) => each.textContent))")
        self.assertGreater(len(cards), 20)
        for title, description in cards:
            self.assertNotIn(description, ("", title))
        self.assertEqual(len(cards), len({description for _, description in cards}))

    def test_names_in_tables_are_whole(self):
        for size in SIZES:
            self.open("codes.html", size)
            broken = self.browser.execute_script(
                "return [...document.querySelectorAll('td code')].filter((code) => code.getClientRects().length > 1).map((code) => code.textContent)")
            self.assertEqual([], broken)

    def test_site_is_usable_by_keyboard(self):
        self.open("protocol.html", SIZES[1], dark=True)
        body = self.find("body")
        body.send_keys(Keys.TAB)
        self.assertEqual("Skip to the text", self.browser.switch_to.active_element.text)
        body.send_keys("/")
        self.assertEqual("search", self.browser.switch_to.active_element.get_attribute("id"))
        menu = self.find("#menu")
        menu.send_keys(Keys.ENTER)
        self.assertEqual("true", menu.get_attribute("aria-expanded"))
        self.assertTrue(self.browser.find_element(By.XPATH, "//a[.='Tutorial: a hybrid shop']").is_displayed())

    def test_text_has_enough_contrast_in_both_themes(self):
        for dark in (False, True):
            self.open("index.html", dark=dark)
            self.assertEqual(dark, self.browser.execute_script("return matchMedia('(prefers-color-scheme: dark)').matches"))
            for path in ["index.html", "guides/tutorial.html", "swift/waybridge/router.html", "javascript/bridge.html"]:
                with self.subTest(path, dark=dark):
                    self.read(path)
                    self.assertEqual([], low_contrast_texts(self.browser))


class FirefoxSitePages(SitePages):
    engine = Firefox


class Faults(unittest.TestCase):
    """What the command finds, so that finding nothing means something."""

    def faults(self, *bodies):
        site = Site()
        for number, body in enumerate(bodies):
            site.add(Page(f"{number}.html", "A title", "", body, f"document {number}"))
        return site.faults()

    def test_broken_and_outside_links_are_faults(self):
        body = '<h1 id="a">A</h1><a href="{}">b</a>'
        self.assertEqual([], self.faults(body.format("#a"), body.format("0.html#a"), body.format("https://example.org/")))
        self.assertEqual(["document 0: 7.html: there is no such page"], self.faults(body.format("7.html")))
        self.assertEqual(["document 0: #b: the page has no such anchor"], self.faults(body.format("#b")))
        self.assertEqual(["document 0: file:///etc/hosts: leads out of the site"], self.faults(body.format("file:///etc/hosts")))

    def test_duplicate_anchor_and_missing_title_are_faults(self):
        self.assertEqual(["document 0: two things have the anchor 'a'"], self.faults('<h1 id="a">A</h1><p id="a"></p>'))
        self.assertEqual(["document 0: 0 titles (h1) in the place of one"], self.faults("<p></p>"))


class WithoutSwift(unittest.TestCase):
    def test_site_builds_without_errors(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([ROOT / "web/docs/build", "--without-swift", "--output", folder], capture_output=True, text=True)
        self.assertEqual((0, ""), (done.returncode, done.stderr))


class Pictures(unittest.TestCase):
    def test_architecture_diagram_matches_sources(self):
        done = subprocess.run([ROOT / "web/docs/architecture", "--check"], capture_output=True, text=True)
        self.assertEqual((0, ""), (done.returncode, done.stderr))


if __name__ == "__main__":
    unittest.main()
