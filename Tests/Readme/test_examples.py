"""README's examples and those of Tests/Examples, run: only ports, files and what the reader's own app does are put in."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import unittest

import examples
from readme import ROOT, blocks, replaced

WAYBRIDGE = os.environ.get("WAYBRIDGE")
if not WAYBRIDGE:
    raise RuntimeError("WAYBRIDGE must hold the path of the waybridge executable")

APP = """
globalThis.WebSocket = createRequire(import.meta.url)("/usr/share/nodejs/ws").WebSocket;
const shown = [];
const hidden = [];
const frame = {};
const hide = (page) => hidden.push(page.uri);
const show = (page, { picked }) => {
  shown.push(page.uri);
  setTimeout(() => picked(page.uri === "native://address/list" ? { city: "Kyoto" } : { channel: "mail" }));
};
"""

# What a page has that was loaded in the frame.
FRAME = "Object.assign(globalThis, { location: new URL(frame.src), history: { replaceState() {} } });\n"

# Between two connections there is no order: the page may have its answer before the shell hears what to hide.
END = """
while (hidden.length < shown.length) await new Promise((resolve) => setTimeout(resolve, 5));
console.log(JSON.stringify({ shown, hidden, shared }));
await Promise.all([bridge.close(), shell.close()]);
"""


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

    def test_the_javascript_of_the_shell_and_of_its_page(self):
        address = self.serve([WAYBRIDGE, "demo", "--port", "0"])
        imported = 'import { Bridge } from "/bridge/bridge.js";\n'
        shell, page = (replaced(block, [(imported, "")]) for block in blocks("Use it", "js"))
        shell = replaced(shell, [("127.0.0.1:8080", address)])
        imports = f'import {{ createRequire }} from "node:module";\nimport {{ Bridge }} from "{ROOT}/web/bridge/bridge.js";\n'
        with tempfile.NamedTemporaryFile("w", suffix=".mjs") as file:
            file.write(imports + APP + shell + "\n" + FRAME + page + END)
            file.flush()
            done = subprocess.run(["node", file.name], capture_output=True, text=True, timeout=60)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        city, rest = done.stdout.splitlines()
        self.assertEqual("Kyoto", city)
        pages = ["native://address/list", "native://share/sheet"]
        self.assertEqual({"shown": pages, "hidden": pages, "shared": True}, json.loads(rest))

    def program(self, name):
        """An example, with its output line by line."""
        binaries, code, output = examples.build()
        self.assertEqual(0, code, output)
        return ["stdbuf", "-oL", f"{binaries}/{name}"]

    def test_the_swift_is_a_program_of_a_package_that_depends_on_this_one(self):
        (snippet,) = blocks("Use it", "swift")
        self.assertEqual((ROOT / "Tests/Examples/Library/main.swift").read_text().strip(), snippet)
        address = self.serve([*self.program("Library"), "0"])
        params = {"uri": "action://hello", "params": {"name": "Ada"}}
        self.assertEqual({"greeting": "Hello, Ada"}, self.call(address, "router.invoke", json.dumps(params)))

    def test_the_native_shell_shows_pages_and_runs_tasks(self):
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

        def say(line, *answers):
            shell.stdin.write(line + "\n")
            shell.stdin.flush()
            self.assertEqual(sorted(answers), sorted(shell.stdout.readline().strip() for _ in answers))

        say("open native://home", "show native://home", "opened p1")
        say("open native://address/list", "show native://address/list", "opened p2")
        say("finish Kyoto", "hide native://address/list finished", "on top native://home", "finished")
        say("open native://address/list", "show native://address/list", "opened p3")
        say("back", "hide native://address/list dismissed", "on top native://home", "dismissed")
        say("run action://toast?text=Hello", "toast Hello", '{"shown":true}')
        shell.stdin.close()
        self.assertEqual(0, shell.wait(timeout=30))

    def test_the_modules_and_services_of_an_app_are_found_by_the_build(self):
        address = self.serve([*self.program("ModularApp"), "0"])

        def invoke(uri):
            return self.call(address, "router.invoke", json.dumps({"uri": uri}))

        self.assertEqual({"city": "Kyoto"}, invoke("action://address/Kyoto"))
        self.assertEqual({"name": "Ada"}, invoke("action://profile"))
        self.assertEqual({"city": "Nara"}, invoke("action://address/Nara"))
        self.assertEqual([{"count": 1}, {"count": 2}], [invoke("service://Cart/add?item=tea") for _ in range(2)])
        self.server.send_signal(signal.SIGTERM)
        # What the app prints when each is called first.
        told = ["addresses are registered", "profiles are registered", "the cart is made"]
        self.assertEqual(told, self.server.stdout.read().splitlines())

    def test_an_app_tests_what_the_build_has_found(self):
        count, output = examples.run_tests("ModularAppTests")
        self.assertEqual(1, count, output)

    def test_calls_that_were_generated_from_a_table(self):
        folder = ROOT / "Tests/Examples"
        command = [WAYBRIDGE, "routes", "generate", folder / "shop.json", "--language", "swift", "--output", folder / "ShopRoutes"]
        done = subprocess.run([*command, "--check"], capture_output=True, text=True)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        count, output = examples.run_tests("ShopRoutesTests")
        self.assertEqual(5, count, output)

    def test_a_module_that_cannot_be_registered_is_an_error_of_the_build_that_says_what_to_do(self):
        path, code, output = self.build_with("private enum Hidden: RouteModule {}")
        self.assertNotEqual(0, code)
        self.assertRegex(output, r"RegisteredModules\.swift:\d+:\d+: error: 'Hidden' is inaccessible")
        self.assertIn(f"// {path}:3\n", output)
        self.assertIn("// If this does not compile: let all of ModularApp see the type, or have it", output)

    def test_what_is_registered_by_hand_and_a_type_with_the_name_of_a_target_hinder_no_build(self):
        hidden = "private enum Hidden: RouteModule, RegisteredByHand { static func register(in router: Router) {} }"
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

    def test_a_back_end_posts(self):
        secret, make, serve, *curl = blocks("Let them in", "sh")[0].splitlines()
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "waybridge").symlink_to(WAYBRIDGE)
            (pathlib.Path(folder) / "protocol").symlink_to(ROOT / "protocol")
            environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
            for line in [secret, make]:
                subprocess.run(["bash", "-c", line], check=True, cwd=folder, env=environment)
            command = f"exec {serve.removesuffix(' &')} --port 0"
            address = self.serve(["bash", "-c", command], cwd=folder, env=environment)
            post = replaced("\n".join(curl), [("127.0.0.1:8080", address)])
            answer = subprocess.run(["bash", "-c", post], check=True, capture_output=True, cwd=folder, env=environment)
        self.assertEqual({"jsonrpc": "2.0", "id": 1, "result": {"delivered": []}}, json.loads(answer.stdout))

    def test_the_command_line(self):
        lines = [line for block in blocks("From a command line", "sh") for line in block.splitlines()]
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "waybridge").symlink_to(WAYBRIDGE)
            environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
            serve = replaced(lines[0], [("8080", "0")])
            address = self.serve(["bash", "-c", f"exec {serve}"], cwd=ROOT, env=environment)
            outputs = []
            for line in lines[1:]:
                done = subprocess.run(
                    ["bash", "-c", line], capture_output=True, text=True, timeout=30, cwd=ROOT,
                    env={**environment, "WAYBRIDGE_URL": f"ws://{address}/bridge"},
                )  # fmt: skip
                self.assertEqual((0, ""), (done.returncode, done.stderr), line)
                outputs.append(done.stdout)
        self.assertIn("canOpen", json.loads(outputs[0]))
        self.assertIn("opens: page 'addressList'", outputs[1])
        self.assertIn("resolved    native://address/detail/5?from=list", outputs[2])


if __name__ == "__main__":
    unittest.main()
