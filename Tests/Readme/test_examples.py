"""README's server and page, and the programs of Tests/Examples, built and run."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import examples
from readme import ROOT, blocks, files, replaced

sys.path.insert(0, str(ROOT / "Tests/Browser"))
from chromium import Chromium  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.support.wait import WebDriverWait  # noqa: E402

WAYBRIDGE = os.environ.get("WAYBRIDGE")
if not WAYBRIDGE:
    raise RuntimeError("WAYBRIDGE must hold the path of the waybridge executable")


class Examples(unittest.TestCase):
    maxDiff = None

    def serve(self, command, **options):
        """Starts a server; gives its address, `HOST:PORT`, from its first line."""
        self.server = server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait, timeout=30)
        self.addCleanup(server.send_signal, signal.SIGTERM)
        line = server.stdout.readline().strip()
        self.assertTrue(line.startswith("listening on http://"), line)
        return line.removeprefix("listening on http://")

    def call(self, address, *arguments):
        """What `waybridge call` prints."""
        command = [WAYBRIDGE, "call", *arguments, "--url", f"ws://{address}/bridge"]
        return json.loads(subprocess.run(command, check=True, capture_output=True, timeout=30).stdout)

    def program(self, name):
        """An example, with its output line by line."""
        binaries, code, output = examples.build()
        self.assertEqual(0, code, output)
        return ["stdbuf", "-oL", f"{binaries}/{name}"]

    def test_server_and_page_of_readme_work_in_browser(self):
        """Runs README's blocks as a reader pastes them; only the build is that of Tests/Examples, and the port is free."""
        create, run = blocks("Your own server and page", "sh")
        self.assertEqual("swift run", run)
        with tempfile.TemporaryDirectory() as name:
            parent = pathlib.Path(name)
            (parent / "waybridge").symlink_to(ROOT)
            # A shell begins in the clone, where the reader has built the program.
            environment = {**os.environ, "PWD": str(parent / "waybridge")}
            subprocess.run(["bash", "-e", "-c", create], check=True, cwd=parent / "waybridge", env=environment, stdout=subprocess.DEVNULL)
            package = parent / "hello"
            self.assertEqual(["Waybridge"], examples.declared(package)["hello"])
            for path, text in files(ROOT / "README.md").items():
                # The block before has made each folder.
                (package / path).write_text(text)
            address = self.serve(self.built(package / "Sources/hello/main.swift"), cwd=package)
            browser = Chromium(dark=False, motion=False)
            self.addCleanup(browser.quit)
            browser.get(f"http://{address}/")
            WebDriverWait(browser, 20).until(lambda _: browser.find_elements(By.XPATH, '//p[text()="Hello, Ada"]'))
            self.assertEqual([], [error for error in browser.errors() if "favicon" not in error])

    def built(self, source):
        """A program of README, built in place of the example Library, which depends on the package in the same way; its command."""
        command = self.program("Library")
        text = replaced(source.read_text(), [("port: 8080", "port: 0")])
        examples.write(examples.FOLDER / "Library/main.swift", text)
        done = examples.swift("build", "--product", "Library")
        self.assertEqual(0, done.returncode, done.stdout)
        return command

    def test_native_shell_shows_pages_and_runs_tasks(self):
        address = self.serve([WAYBRIDGE, "serve", "--table", str(ROOT / "protocol/routes/demo.json"), "--port", "0"])
        shell = subprocess.Popen(
            [*self.program("NativeShell"), f"ws://{address}/bridge"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.addCleanup(shell.stdout.close)
        self.addCleanup(shell.stdin.close)
        self.addCleanup(shell.wait)
        self.addCleanup(shell.kill)
        # Whatever it does not say within this time, it never will.
        watch = threading.Timer(60, shell.kill)
        watch.start()
        self.addCleanup(watch.cancel)

        def type_line(line, *outputs):
            shell.stdin.write(line + "\n")
            shell.stdin.flush()
            self.assertEqual(sorted(outputs), sorted(shell.stdout.readline().strip() for _ in outputs))

        type_line("open native://home", "show native://home", "opened p1")
        type_line("open native://walk/b", "show native://walk/b", "opened p2")
        type_line("finish Kyoto", "hide native://walk/b finished", "on top native://home", "finished")
        type_line("open native://address/list", "show native://address/list", "opened p3")
        type_line("back", "hide native://address/list dismissed", "on top native://home", "dismissed")
        type_line("run action://toast?text=Hello", "toast Hello", '{"shown":true}')
        shell.stdin.close()
        self.assertEqual(0, shell.wait(timeout=30))

    def test_build_finds_modules_and_services_of_app(self):
        address = self.serve([*self.program("ModularApp"), "0"])

        def invoke(uri):
            return self.call(address, "router.invoke", json.dumps({"uri": uri}))

        self.assertEqual({"city": "Kyoto"}, invoke("action://address/Kyoto"))
        self.assertEqual({"name": "Ada"}, invoke("action://profile"))
        self.assertEqual({"city": "Nara"}, invoke("action://address/Nara"))
        self.assertEqual([{"count": 1}, {"count": 2}], [invoke("service://Cart/add?item=tea") for _ in range(2)])
        self.server.send_signal(signal.SIGTERM)
        # What the app prints when each is called first.
        messages = ["addresses are registered", "profiles are registered", "the cart is made"]
        self.assertEqual(messages, self.server.stdout.read().splitlines())

    def test_app_tests_its_discovered_modules(self):
        count, output = examples.run_tests("ModularAppTests")
        self.assertEqual(1, count, output)

    def test_generated_calls_of_table_work(self):
        folder = ROOT / "Tests/Examples"
        command = [WAYBRIDGE, "routes", "generate", folder / "shop.json", "--language", "swift", "--output", folder / "ShopRoutes"]
        done = subprocess.run([*command, "--check"], capture_output=True, text=True)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        count, output = examples.run_tests("ShopRoutesTests")
        self.assertEqual(5, count, output)

    def test_inaccessible_module_fails_build_with_hint(self):
        path, code, output = self.build_with("private enum Hidden: RouteModule {}")
        self.assertNotEqual(0, code)
        self.assertRegex(output, r"RegisteredModules\.swift:\d+:\d+: error: 'Hidden' is inaccessible")
        self.assertIn(f"// {path}:3\n", output)
        self.assertIn("// If this does not compile: let all of ModularApp see the type, or have it", output)

    def test_manual_registration_and_type_named_like_target_build(self):
        hidden = "private enum Hidden: RouteModule, ManualRegistration { static func register(in router: Router) {} }"
        _, code, output = self.build_with(hidden + "\nenum Profile {}")
        self.assertEqual(0, code, output)

    def build_with(self, declarations):
        """Builds ModularApp with a file more; gives its path, and what the build says."""
        self.program("ModularApp")
        path = examples.FOLDER / "ModularApp/More.swift"
        self.addCleanup(path.unlink)
        path.write_text(f"import Waybridge\n\n{declarations}\n")
        done = examples.swift("build", "--target", "ModularApp")
        return path, done.returncode, done.stdout


if __name__ == "__main__":
    unittest.main()
