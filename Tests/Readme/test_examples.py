"""README's examples, run: only ports, files and what the reader's own app does are put in."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

from readme import ROOT, blocks, replaced

WAYBRIDGE = os.environ.get("WAYBRIDGE")
if not WAYBRIDGE:
    raise RuntimeError("WAYBRIDGE must hold the path of the waybridge executable")

PACKAGE = """// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "app",
  dependencies: [.package(path: "{root}")],
  targets: [
    .executableTarget(
      name: "app", dependencies: [.product(name: "Waybridge", package: "{identity}")])
  ],
  cxxLanguageStandard: .cxx17
)
"""

APP = """
globalThis.WebSocket = createRequire(import.meta.url)("/usr/share/nodejs/ws").WebSocket;
const shown = [];
const hidden = [];
const hide = (page) => hidden.push(page.uri);
const show = (page, { picked }) => {
  shown.push(page.uri);
  setTimeout(() => picked(page.uri === "native://address/list" ? { city: "Kyoto" } : { channel: "mail" }));
};
"""

END = """
console.log(JSON.stringify({ shown, hidden, shared }));
await Promise.all([bridge.close(), shell.close()]);
"""


class Examples(unittest.TestCase):
    maxDiff = None

    def serve(self, command, **options):
        """Starts a server; gives its address, `HOST:PORT`, from its first line."""
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)
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
        shell, page = (
            replaced(block, [(imported, ""), ("127.0.0.1:8080", address)]) for block in blocks("Use it", "js")
        )
        imports = f'import {{ createRequire }} from "node:module";\nimport {{ Bridge }} from "{ROOT}/web/bridge/bridge.js";\n'
        with tempfile.NamedTemporaryFile("w", suffix=".mjs") as file:
            file.write(imports + APP + shell + "\n" + page + END)
            file.flush()
            done = subprocess.run(["node", file.name], capture_output=True, text=True, timeout=60)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        city, rest = done.stdout.splitlines()
        self.assertEqual("Kyoto", city)
        pages = ["native://address/list", "native://share/sheet"]
        self.assertEqual({"shown": pages, "hidden": pages, "shared": True}, json.loads(rest))

    def test_the_swift_is_a_program_of_a_package_that_depends_on_this_one(self):
        (snippet,) = blocks("Use it", "swift")
        listening = 'configuration: BridgeConfiguration(port: 0)) { print("listening on \\($0)"); fflush(nil) }'
        program = replaced(snippet, [("BridgeServer(router: router)", f"BridgeServer(router: router, {listening}")])
        # Kept between runs, since a whole build takes its time.
        folder = ROOT / ".build/readme"
        (folder / "Sources/app").mkdir(parents=True, exist_ok=True)
        (folder / "Package.swift").write_text(PACKAGE.format(root=ROOT, identity=ROOT.name))
        (folder / "Sources/app/main.swift").write_text("import Glibc\n" + program + "\n")
        if (ROOT / "Package.resolved").exists():
            shutil.copy(ROOT / "Package.resolved", folder)
        build = ["swift", "build", "--package-path", str(folder)]
        done = subprocess.run(build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(0, done.returncode, done.stdout)
        self.assertNotIn("main.swift:", done.stdout)
        binaries = subprocess.run([*build, "--show-bin-path"], check=True, capture_output=True, text=True)
        address = self.serve([str(pathlib.Path(binaries.stdout.strip()) / "app")])
        params = {"uri": "action://hello", "params": {"name": "Ada"}}
        self.assertEqual({"greeting": "Hello, Ada"}, self.call(address, "router.invoke", json.dumps(params)))

    def test_the_command_line(self):
        lines = [line for block in blocks("Use it", "sh") for line in block.splitlines()]
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(ROOT / "protocol/routes/demo.json", f"{folder}/routes.json")
            (pathlib.Path(folder) / "waybridge").symlink_to(WAYBRIDGE)
            environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
            serve = replaced(lines[0], [("8080", "0")])
            address = self.serve(["bash", "-c", f"exec {serve}"], cwd=folder, env=environment)
            outputs = []
            for line in lines[1:]:
                done = subprocess.run(
                    ["bash", "-c", line], capture_output=True, text=True, timeout=30, cwd=folder,
                    env={**environment, "WAYBRIDGE_URL": f"ws://{address}/bridge"},
                )  # fmt: skip
                self.assertEqual((0, ""), (done.returncode, done.stderr), line)
                outputs.append(done.stdout)
        self.assertIn("canOpen", json.loads(outputs[0]))
        self.assertIn("opens: page 'addressList'", outputs[1])
        self.assertIn("resolved    native://address/detail/5?from=list", outputs[2])


if __name__ == "__main__":
    unittest.main()
