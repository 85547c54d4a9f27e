"""web/docs/shells: the Kotlin and Swift code compiles against stubs of its platforms, and the JavaScript works with a server."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "Tests/Command"), str(ROOT / "Tests/Readme")]
import pypi  # noqa: E402
from readme import fenced  # noqa: E402

WAYBRIDGE = os.environ.get("WAYBRIDGE")
if not WAYBRIDGE:
    raise RuntimeError("WAYBRIDGE must hold the path of the waybridge executable")

DOCS = ROOT / "web/docs/shells"
STUBS = ROOT / "Tests/Shells/stubs"
HERE = ROOT / "Tests/Shells"


def code(page, language):
    """The only block of a language in a page."""
    (block,) = [block for block in fenced(DOCS / page) if block.language == language]
    return block.text


class Shells(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def serve(self, *flags):
        """A server with the demo's routes; returns its address, `HOST:PORT`."""
        command = [WAYBRIDGE, "serve", "--conformance", "--table", ROOT / "protocol/routes/demo.json", "--port", "0", *flags]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(lambda: (server.kill(), server.wait(), server.stdout.close()))
        return server.stdout.readline().strip().removeprefix("listening on http://")

    def flags(self, page):
        """The origins that the page's command allows."""
        command = shlex.split(code(page, "sh"))
        return command[command.index("--allow-origin") :]

    def run_node(self, test, page, address):
        """Runs a test of a page's JavaScript."""
        modules = {"/bridge/bridge.js": ROOT / "web/bridge/bridge.js", "waybridge": ROOT / "web/bridge/bridge.js"}
        text = code(page, "js")
        for name in re.findall(r'from "([^"]+)"', text):
            text = text.replace(f'from "{name}"', f'from "{modules.get(name, HERE / "fakes.mjs")}"')
        text = re.sub(r'url: "wss?://[^"]*"', f'url: "ws://{address}/bridge"', text)
        recipe = self.write("recipe.mjs", text)
        environment = os.environ | {"RECIPE": str(recipe), "ADDRESS": address}
        done = subprocess.run(
            ["node", "--test-reporter=tap", HERE / test], capture_output=True, text=True, timeout=60, env=environment)
        self.assertEqual(0, done.returncode, done.stdout[-3000:] + done.stderr)

    def test_every_page_is_in_the_index(self):
        index = set(re.findall(r"\]\((\w+\.md)\)", (DOCS / "README.md").read_text()))
        self.assertEqual({path.name for path in DOCS.iterdir()} - {"README.md"}, index)
        for path in DOCS.glob("*.md"):
            for link in re.findall(r"\]\(([^)#\s]+)[^)\s]*\)", path.read_text()):
                self.assertTrue((DOCS / link).exists(), f"{path.name}: {link}")

    def test_kotlin_example_compiles(self):
        folder, reason = pypi.installed(*pypi.KOTLIN)
        if reason or not shutil.which("java"):
            self.skipTest(reason or "there is no java")
        shell = self.write("Shell.kt", code("android.md", "kotlin"))
        found = pypi.compile_kotlin(folder, *sorted(STUBS.glob("*.kt")), shell, into=self.folder / "classes")
        self.assertEqual((0, ""), found)
        shell.write_text(shell.read_text().replace("web.evaluateJavascript(script, null)", "web.evaluateJavascript(script)"))
        self.assertNotEqual(0, pypi.compile_kotlin(folder, *sorted(STUBS.glob("*.kt")), shell, into=self.folder / "classes")[0])

    def swiftc(self, *arguments):
        done = subprocess.run(
            ["swiftc", "-swift-version", "6", "-warnings-as-errors", "-I", self.folder, *arguments],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def compile_stubs(self):
        for module in ("UIKit", "WebKit"):
            found = self.swiftc(
                "-parse-as-library", "-emit-module", "-emit-object", "-module-name", module, STUBS / f"{module}.swift", "-o", f"{module}.o",
                "-emit-module-path", f"{module}.swiftmodule")
            self.assertEqual((0, ""), found)

    def test_stopped_swift_shell_is_deallocated(self):
        self.compile_stubs()
        shell = self.write("Shell.swift", code("wkwebview.md", "swift"))
        found = self.swiftc(shell, HERE / "main.swift", "UIKit.o", "WebKit.o", "-o", "ended")
        self.assertEqual((0, ""), found)
        done = subprocess.run([self.folder / "ended"], stdout=subprocess.PIPE, text=True, timeout=20)
        self.assertEqual((0, "held until it is stopped\nlet go\n"), (done.returncode, done.stdout))

    def test_swift_example_compiles(self):
        self.compile_stubs()
        shell = self.write("Shell.swift", code("wkwebview.md", "swift"))
        self.assertEqual((0, ""), self.swiftc("-parse-as-library", "-typecheck", shell))
        shell.write_text(shell.read_text().replace("web.isHidden = true", "web.isHidden = 1"))
        self.assertNotEqual(0, self.swiftc("-parse-as-library", "-typecheck", shell)[0])

    def test_hidden_page_example_works(self):
        self.run_node("shell.mjs", "README.md", self.serve())

    def test_capacitor_example_works(self):
        self.run_node("capacitor.mjs", "capacitor.md", self.serve(*self.flags("capacitor.md")))

    def test_tauri_example_works(self):
        self.run_node("tauri.mjs", "tauri.md", self.serve(*self.flags("tauri.md")))


if __name__ == "__main__":
    unittest.main()
