"""web/docs, coming from another router: the tables load, the commands print what they should, the messages are answered so, the JavaScript is a program."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import jsonschema

from readme import ROOT, fenced, replaced

sys.path.insert(0, str(ROOT / "Tests/Command"))
from rawsocket import WebSocket  # noqa: E402

WAYBRIDGE = os.environ.get("WAYBRIDGE")
if not WAYBRIDGE:
    raise RuntimeError("WAYBRIDGE must hold the path of the waybridge executable")

DOCS = ROOT / "web/docs"
PAGES = ["bbrouter.md", "jlroutes.md", "therouter.md", "therouter-android.md", "webviewaction.md"]
# Whoever tries the pages may do everything.
POLICY = {"rules": [{"name": "everybody", "allow": ["*"]}]}

BEFORE = """
import { createRequire } from "node:module";
globalThis.WebSocket = createRequire(import.meta.url)("/usr/share/nodejs/ws").WebSocket;
"""


class Docs(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "waybridge").symlink_to(Path(WAYBRIDGE).resolve())

    def each(self):
        """Each page, with its blocks; its table lies in the folder as routes.json."""
        for name in PAGES:
            blocks = fenced(DOCS / name)
            table = self.table(blocks)
            (self.folder / "routes.json").write_text(json.dumps(table))
            yield name, blocks

    def table(self, blocks):
        (table,) = [block for block in blocks if block.language == "json" and '"routes"' in block.text]
        return json.loads(table.text)

    def serve(self):
        """A server of the table; gives its address, `HOST:PORT`."""
        policy = self.folder / "policy.json"
        policy.write_text(json.dumps(POLICY))
        command = [WAYBRIDGE, "serve", "--table", self.folder / "routes.json", "--policy", policy, "--port", "0"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.stderr.close)
        self.addCleanup(server.wait, timeout=30)
        self.addCleanup(server.send_signal, signal.SIGTERM)
        line = server.stdout.readline().strip()
        self.assertTrue(line.startswith("listening on http://"), line or server.stderr.read())
        return line.removeprefix("listening on http://")

    def test_every_page_has_a_comparison_table(self):
        for name in PAGES:
            rows = re.findall(r"^\| .+ \| .+ \|$", (DOCS / name).read_text(), re.M)
            self.assertGreater(len(rows), 9, name)

    def test_route_tables_are_valid_and_served(self):
        schema = json.loads((ROOT / "protocol/schema/table.schema.json").read_text())
        for name, blocks in self.each():
            faults = jsonschema.Draft202012Validator(schema).iter_errors(self.table(blocks))
            self.assertEqual([], [fault.message for fault in faults], name)
            self.serve()

    def test_commands_print_the_shown_output(self):
        count = 0
        for _, blocks in self.each():
            for block, shown in zip(blocks, blocks[1:]):
                if block.language != "sh":
                    continue
                done = subprocess.run(
                    ["bash", "-e"], input=block.text, capture_output=True, text=True, cwd=self.folder, timeout=30,
                    env=os.environ | {"PATH": f"{self.folder}:{os.environ['PATH']}"},
                )  # fmt: skip
                self.assertEqual("text", shown.language, shown.place)
                self.assertEqual((shown.text, ""), (done.stdout, done.stderr), block.place)
                count += 1
        self.assertGreater(count, 0)

    def test_messages_have_the_shown_responses(self):
        count = 0
        for _, blocks in self.each():
            lines = [
                json.loads(line)
                for block in blocks if block.language == "json" and '"jsonrpc"' in block.text
                for line in block.text.splitlines()
            ]  # fmt: skip
            if not lines:
                continue
            port = int(self.serve().rpartition(":")[2])
            with WebSocket(port) as client:
                for request, response in zip(lines[::2], lines[1::2], strict=True):
                    client.send(request)
                    self.assertShows(response, client.receive(), request["method"])
                    count += 1
        self.assertGreater(count, 3)

    def assertShows(self, shown, value, place):
        """What a document shows of a value: members that it leaves out, and texts that it has as …, may be anything."""
        if isinstance(shown, dict):
            self.assertIsInstance(value, dict, place)
            for name, member in shown.items():
                self.assertIn(name, value, place)
                self.assertShows(member, value[name], f"{place}.{name}")
        elif shown == "…":
            self.assertIsInstance(value, str, place)
        else:
            self.assertEqual(shown, value, place)

    def test_javascript_of_page_prints_the_shown_output(self):
        for name, blocks in self.each():
            address = self.serve()
            code = "\n".join(block.text for block in blocks if block.language == "js")
            # What is shown behind a call of the console, or, where nothing is, in the block of text.
            shown = re.findall(r"console\.log\(.*\);\s+// (.+)", code)
            text = [block.text.splitlines() for block in blocks if block.language == "text"]
            shown = shown or text[-1]
            program = self.folder / "program.mjs"
            program.write_text(
                BEFORE
                + replaced(code, [('"/bridge/bridge.js"', f'"{ROOT}/web/bridge/bridge.js"'), ("127.0.0.1:8080", address)])
                # Pages are open still, which somebody awaits.
                + "\nprocess.exit();\n"
            )
            done = subprocess.run(["node", program], capture_output=True, text=True, timeout=60)
            self.assertEqual((0, ""), (done.returncode, done.stderr), name)
            printed = done.stdout.splitlines()
            self.assertEqual(shown, [line for line in printed if line in shown], done.stdout)


if __name__ == "__main__":
    unittest.main()
