"""The code behind the rows of the messages is the code that runs."""

import subprocess
import unittest
from pathlib import Path

from demo_case import DemoCase

ROOT = Path(__file__).resolve().parents[2]

# Whether an element is within the visible part of another element.
IN_VIEW = """
  const [inner, outer] = [...arguments].map((element) => element.getBoundingClientRect());
  return inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1;
"""


class CodeTest(DemoCase):
    def code(self, title):
        """The code in the row with this title: the marked line of each file. Checks that each shown line is in the file."""
        row = self.phone.open_row(title)
        self.phone.find(".code", row)
        shown = {}
        for figure in row.find_elements("css selector", ".code"):
            file = figure.find_elements("css selector", "figcaption code")[0].text.partition(":")[0]
            lines = figure.find_elements("css selector", ".code-line")
            real = (ROOT / file).read_text(encoding="utf-8").split("\n")
            self.assertGreater(len(lines), 0)
            for line in lines:
                self.assertEqual(line.text.strip(), real[int(line.get_attribute("data-line")) - 1].strip(), file)
            marked, = figure.find_elements("css selector", "mark")
            self.assertTrue(self.driver.execute_script(IN_VIEW, marked, figure.find_element("css selector", "pre")), f"the marked line of {file} is not in view")
            shown[file] = marked.text.strip()
        first = row.find_elements("css selector", "mark")[0]
        self.assertTrue(self.driver.execute_script(IN_VIEW, first, self.phone.find("#messages")), "the line of the call is not in view")
        return shown

    def test_shows_code_of_native_page_and_swift_task(self):
        self.phone.press("native://home", "Server time")
        self.phone.result("native://home")
        code = self.code("router.invoke")
        self.assertEqual(list(code), ["web/demo/native/home.js", "Sources/WaybridgeCommand/Demo/DemoTasks.swift"])
        self.assertIn('bridge.invoke("action://time")', code["web/demo/native/home.js"])
        self.assertIn("func time(_ call: Call)", code["Sources/WaybridgeCommand/Demo/DemoTasks.swift"])
        self.screenshot("code")

    def test_shows_code_of_web_page_and_client_task(self):
        self.open_shop()
        self.phone.wait_for_web_session()
        with self.phone.web("shop.html"):
            self.phone.button("Add to cart").click()
            self.phone.settled()
        code = self.code("router.invoke")
        self.assertEqual(list(code), ["web/demo/pages/shop.js", "web/demo/shell/shell.js"])
        self.assertIn('bridge.invoke("action://toast"', code["web/demo/pages/shop.js"])
        self.assertIn('task("action://toast"', code["web/demo/shell/shell.js"])

    def test_shows_code_of_flutter_view(self):
        self.phone.press("native://home", "Mira")
        with self.phone.flutter():
            self.phone.button("Follow", self.phone.flutter_page("Profile")).click()
        self.phone.result("native://home")
        self.assertIn("this.bridge.finish(result", self.code("navigation.finish")["web/demo/flutter/view.js"])


class SwiftTest(unittest.TestCase):
    def test_shown_swift_code_matches_sources(self):
        done = subprocess.run([ROOT / "web/demo-code", "--check"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
