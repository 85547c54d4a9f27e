"""The guides of web/docs, each walked through from its beginning to its end: the same commands and files as a reader has."""

import re
import sys
import unittest

from readme import ROOT
from walk import DOCS, Walk, files, steps

sys.path.insert(0, str(ROOT / "Tests/Browser"))
from chromium import Chromium  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.support.wait import WebDriverWait  # noqa: E402

WALKED = ["start.md", "own-client.md", "proxy.md", "policy.md", "durable.md", "testing.md", "operating.md"]


class Guides(unittest.TestCase):
    maxDiff = None

    def test_each_is_walked(self):
        for name in WALKED:
            with self.subTest(name), Walk() as walk:
                self.assertGreater([kind for kind, _, _ in steps(name)].count("text"), 1)
                walk.play(name)
                look = getattr(self, f"look_{name.removesuffix('.md')}", None)
                if look:
                    look(walk)

    def look_start(self, walk):
        """What the browser shows in the end."""
        browser = Chromium(dark=False, motion=False)
        self.addCleanup(browser.quit)
        browser.get(f"http://127.0.0.1:{walk.ports['8080']}/")
        browser.switch_to.frame(0)
        WebDriverWait(browser, 20).until(lambda _: browser.find_elements(By.XPATH, '//p[text()="HELLO, ADA!"]'))
        self.assertEqual([], [error for error in browser.errors() if "favicon" not in error])

    def test_the_client_of_ones_own_has_no_more_lines_than_its_guide_says(self):
        said = re.search(r"a client in Python, in (\d+) lines", (DOCS / "own-client.md").read_text())
        lines = [line for line in files("own-client.md")["bridge.py"].splitlines() if line.strip()]
        self.assertEqual(int(said[1]), len(lines))
        self.assertLessEqual(len(lines), 40)

    def test_the_figures_that_are_worth_a_look_are_there(self):
        shown = set(re.findall(r"waybridge_[a-z_]*[a-z]|process_[a-z_]+", (DOCS / "operating.md").read_text()))
        sources = "\n".join(path.read_text() for path in (ROOT / "Sources").rglob("*.swift"))
        self.assertGreater(len(shown), 15)
        self.assertEqual([], [name for name in sorted(shown) if name.removesuffix("_bucket") not in sources])


if __name__ == "__main__":
    unittest.main()
