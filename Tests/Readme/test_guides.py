"""The guides of web/docs, each run from its beginning to its end: the same commands and files as a reader has."""

import re
import sys
import unittest

from guide_runner import DOCS, GuideRunner, files, steps
from readme import ROOT, fenced

sys.path.insert(0, str(ROOT / "Tests/Browser"))
from chromium import Chromium  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.support.wait import WebDriverWait  # noqa: E402

GUIDES = [
    "start.md", "installing.md", "own-client.md", "proxy.md", "policy.md", "gates.md", "leaving-pages.md", "editing-the-stack.md", "agents.md", "blobs.md", "durable.md", "cluster.md", "cluster-operating.md", "testing.md",
    "operating.md",
]  # fmt: skip
# Texts of blocks that are not run. Tests/Install installs the package, and Tests/Command has an identity provider.
SKIPPED = {"installing.md": ["apt-get"], "policy.md": ["--token-jwks"]}
# Explanations, which have nothing to run.
EXPLANATIONS = ["cluster-design.md"]


class Guides(unittest.TestCase):
    maxDiff = None

    def test_every_guide_runs_to_its_end(self):
        for name in GUIDES:
            with self.subTest(name), GuideRunner() as runner:
                self.assertGreater([kind for kind, _, _ in steps(name)].count("text"), 1)
                runner.run(name, SKIPPED.get(name, ()))
                check = getattr(self, f"check_{name.removesuffix('.md')}", None)
                if check:
                    check(runner)

    def test_explanations_have_no_commands(self):
        """A page with commands has to be in GUIDES, so that they are run."""
        for name in EXPLANATIONS:
            self.assertEqual([], [block for block in fenced(DOCS / name) if block.language == "sh"])

    def check_start(self, runner):
        """Checks what the browser shows in the end."""
        browser = Chromium(dark=False, motion=False)
        self.addCleanup(browser.quit)
        browser.get(f"http://127.0.0.1:{runner.ports['8080']}/")
        browser.switch_to.frame(0)
        WebDriverWait(browser, 20).until(lambda _: browser.find_elements(By.XPATH, '//p[text()="HELLO, ADA!"]'))
        self.assertEqual([], [error for error in browser.errors() if "favicon" not in error])

    def test_own_client_has_the_stated_line_count(self):
        stated = re.search(r"a\s+client\s+in\s+Python,\s+in\s+(\d+)\s+lines", (DOCS / "own-client.md").read_text())
        lines = [line for line in files("own-client.md")["bridge.py"].splitlines() if line.strip()]
        self.assertEqual(int(stated[1]), len(lines))
        self.assertLessEqual(len(lines), 40)

    def test_operating_guide_lists_all_metrics_and_alerts(self):
        guide = (DOCS / "operating.md").read_text()
        monitoring = ROOT / "Sources/WaybridgeCommand/Packaging/monitoring"
        # Tests/Install compares the list of metrics.md with what a server has.
        listed = (DOCS / "metrics.md").read_text().partition("## Metrics\n")[2].partition("\n## ")[0]
        self.assertGreater(len(rows(listed)), 30)
        self.assertEqual(rows(listed), rows(guide))
        alerts = re.findall(r"- alert: (\w+)|severity: (\w+)", (monitoring / "alerts.yml").read_text())
        named = [alert or severity for alert, severity in alerts]
        critical = [name for name, severity in zip(named[::2], named[1::2]) if severity == "critical"]
        self.assertEqual(named[::2], re.findall(r"^\| `(Waybridge\w+)`", guide, re.MULTILINE))
        section = guide.partition("### Critical")[2].partition("### Warnings")[0]
        self.assertEqual(critical, re.findall(r"`(Waybridge\w+)`", section))


def rows(text):
    """The families of metrics that a document's tables have in their first column, with their labels."""
    found = {}
    for names, labels in re.findall(r"^\| ((?:`(?:waybridge|process)_[a-z_]+`(?:, )?)+)( by [^|]*| \| [^|]*)?\|", text, re.MULTILINE):
        for name in re.findall(r"`(\w+)`", names):
            found[name] = re.findall(r"`(\w+)`", labels)
    return found


if __name__ == "__main__":
    unittest.main()
