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

WALKED = ["start.md", "own-client.md", "proxy.md", "policy.md", "durable.md", "cluster.md", "testing.md", "operating.md"]


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

    def test_every_figure_and_every_alert_is_in_the_guide_to_operating(self):
        guide = (DOCS / "operating.md").read_text()
        monitoring = ROOT / "Sources/WaybridgeCommand/Packaging/monitoring"
        # Tests/Install compares the protocol's list with what a server has.
        listed = (ROOT / "protocol/PROTOCOL.md").read_text().partition("## Metrics\n")[2].partition("\n## ")[0]
        self.assertGreater(len(rows(listed)), 30)
        self.assertEqual(rows(listed), rows(guide))
        alerts = re.findall(r"- alert: (\w+)|severity: (\w+)", (monitoring / "alerts.yml").read_text())
        named = [alert or severity for alert, severity in alerts]
        critical = [name for name, severity in zip(named[::2], named[1::2]) if severity == "critical"]
        self.assertEqual(named[::2], re.findall(r"^\| `(Waybridge\w+)`", guide, re.MULTILINE))
        woken = guide.partition("## When to be woken up")[2].partition("wait for the morning")[0]
        self.assertEqual(critical, re.findall(r"`(Waybridge\w+)`", woken))


def rows(text):
    """The families of metrics that a document's tables have in their first column, with their labels."""
    found = {}
    for names, labels in re.findall(r"^\| ((?:`(?:waybridge|process)_[a-z_]+`(?:, )?)+)( by [^|]*| \| [^|]*)?\|", text, re.MULTILINE):
        for name in re.findall(r"`(\w+)`", names):
            found[name] = re.findall(r"`(\w+)`", labels)
    return found


if __name__ == "__main__":
    unittest.main()
