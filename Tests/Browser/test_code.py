"""The code behind the rows of the messages is the code that runs."""

import subprocess
import unittest
from pathlib import Path

from demo_case import DemoCase
from firefox import Firefox

ROOT = Path(__file__).resolve().parents[2]


class CodeTest(DemoCase):
    def code(self, title):
        """What the row with that title shows as code: its files, with the marked line of each, where one is. Each line is the file's."""
        row = self.phone.row(title)
        row.find_elements("css selector", "summary")[0].click()
        self.phone.find(".code", row)
        shown = {}
        for figure in row.find_elements("css selector", ".code"):
            file = figure.find_elements("css selector", "figcaption code")[0].text.partition(":")[0]
            lines = figure.find_elements("css selector", ".code-line")
            real = (ROOT / file).read_text(encoding="utf-8").split("\n")
            self.assertGreater(len(lines), 0)
            for line in lines:
                self.assertEqual(line.text.strip(), real[int(line.get_attribute("data-line")) - 1].strip(), file)
            marked = figure.find_elements("css selector", "mark")
            shown[file] = marked[0].text.strip() if marked else lines[0].text.strip()
        return shown

    def test_the_lines_of_a_native_page_and_those_of_a_task_in_swift(self):
        self.phone.press("native://home", "Server time")
        self.phone.result("native://home")
        code = self.code("router.invoke")
        self.assertEqual(list(code), ["web/demo/native/home.js", "Sources/WaybridgeCommand/DemoTasks.swift"])
        self.assertIn('bridge.invoke("action://time")', code["web/demo/native/home.js"])
        self.assertEqual("/// Answers with the server's clock, in milliseconds since 1970.", code["Sources/WaybridgeCommand/DemoTasks.swift"])
        self.screenshot("code")

    def test_the_lines_of_a_web_page_and_those_of_a_task_that_a_client_runs(self):
        self.open_shop()
        with self.phone.web("shop.html"):
            self.phone.button("Add to cart").click()
            self.phone.settled()
        code = self.code("router.invoke")
        self.assertEqual(list(code), ["web/demo/pages/shop.js", "web/demo/shell/shell.js"])
        self.assertIn('bridge.invoke("action://toast"', code["web/demo/pages/shop.js"])
        self.assertIn('task("action://toast"', code["web/demo/shell/shell.js"])

    def test_the_lines_of_the_flutter_view(self):
        self.phone.press("native://home", "Mira")
        with self.phone.flutter():
            self.phone.button("Follow", self.phone.flutter_page("Profile")).click()
        self.phone.result("native://home")
        self.assertIn("this.bridge.finish(result", self.code("navigation.finish")["web/demo/flutter/view.js"])


class FirefoxCodeTest(CodeTest):
    browser = Firefox


class SwiftTest(unittest.TestCase):
    def test_the_lines_of_swift_are_those_of_the_sources(self):
        done = subprocess.run([ROOT / "web/demo-code", "--check"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
