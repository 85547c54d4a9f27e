"""The tutorial: its package builds and its tests pass; its commands print what they should; its app does what is told of it."""

import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import examples
from guide_runner import GuideRunner, files, steps
from readme import ROOT

sys.path.insert(0, str(ROOT / "Tests/Browser"))
from chromium import Chromium  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.support.wait import WebDriverWait  # noqa: E402

NAME = examples.TUTORIAL
# Those that build; what they build is built with the other examples.
BUILDING = ("swift run", "swift test")


class Tutorial(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.binaries, cls.code, cls.output = examples.build()

    def setUp(self):
        self.assertEqual(0, self.code, self.output)

    def test_manifest_matches_the_built_package(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "Package.swift").write_text(files(NAME)["Package.swift"])
            declared = examples.declared(folder)
        self.assertEqual(declared, {name: examples.declared(examples.FOLDER)[name] for name in declared})

    def test_tests_of_tutorial_pass(self):
        count, output = examples.run_tests(r"^ShopTests\.")
        self.assertEqual(2, count, output)

    def test_commands_and_app_of_tutorial_work(self):
        with GuideRunner() as runner:
            runner.run(NAME, but=BUILDING)
            self.use(runner)

    def use(self, runner):
        """Uses the app as a reader would: presses, types, reads."""
        (command,) = [block.text for kind, _, block in steps(NAME) if kind == "sh" and block.text.startswith("swift run")]
        program, port = runner.with_ports(command).split()[2:]
        app = subprocess.Popen(
            ["stdbuf", "-oL", f"{self.binaries}/{program}", port], cwd=runner.folder,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.addCleanup(app.stdout.close)
        self.addCleanup(app.stdin.close)
        self.addCleanup(app.wait)
        self.addCleanup(app.kill)
        # Whatever it does not say within this time, it never will.
        watch = threading.Timer(60, app.kill)
        watch.start()
        self.addCleanup(watch.cancel)
        browser = Chromium(dark=False, motion=False)
        self.addCleanup(browser.quit)

        def assert_output(*lines):
            self.assertEqual(list(lines), [app.stdout.readline().strip() for _ in lines])

        def type_line(line):
            app.stdin.write(line + "\n")
            app.stdin.flush()

        assert_output(f"listening on http://127.0.0.1:{port}")
        browser.get(f"http://127.0.0.1:{port}/")
        self.press(browser, "list.html", "Tea")
        assert_output("Where to? 1 Bergen, 2 Kyoto")
        type_line("3")
        assert_output("Where to? 1 Bergen, 2 Kyoto")
        type_line("2")
        assert_output("native://address/pick is finished", "Who are you?")
        type_line("Ada")
        assert_output("native://login is finished", "order 1: Tea to Kyoto, for Ada")
        self.press(browser, "flutter.html", "5")
        self.assert_review(browser, "Order 1 goes to Ada in Kyoto. 5 stars.")
        self.press(browser, "list.html", "Cups")
        assert_output("Where to? 1 Bergen, 2 Kyoto")
        type_line("1")
        assert_output("native://address/pick is finished", "order 2: Cups to Bergen, for Ada")
        self.press(browser, "flutter.html", "4")
        self.assert_review(browser, "Order 2 goes to Ada in Bergen. 4 stars.")
        self.assertEqual([], [error for error in browser.errors() if "favicon" not in error])

    def within(self, browser, title):
        browser.switch_to.default_content()
        frame = WebDriverWait(browser, 20).until(lambda _: browser.find_elements(By.CSS_SELECTOR, f'iframe[title="{title}"]'))[0]
        browser.switch_to.frame(frame)

    def press(self, browser, frame, text):
        self.within(browser, frame)
        xpath = f'//button[text()="{text}"]'
        WebDriverWait(browser, 20).until(lambda _: browser.find_elements(By.XPATH, xpath))[0].click()

    def assert_review(self, browser, text):
        self.within(browser, "list.html")
        try:
            WebDriverWait(browser, 20).until(lambda _: browser.find_element(By.CSS_SELECTOR, "p").text == text)
        finally:
            self.assertEqual(text, browser.find_element(By.CSS_SELECTOR, "p").text)


if __name__ == "__main__":
    unittest.main()
