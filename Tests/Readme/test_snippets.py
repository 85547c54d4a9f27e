"""Every code block of the documents: Swift compiles, JavaScript and shell parse, JSON is what the schemas say."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

import jsonschema

import examples
import messages
from readme import ROOT, all_blocks, documents, fenced, files

sys.path.insert(0, str(ROOT / "Tests/Browser"))
from chromium import Chromium  # noqa: E402

# `text` shows flows in words of its own; test_shapes.py compiles `ts`. Components of frameworks are in test_frameworks.py and in Tests/Browser.
LANGUAGES = {"swift", "js", "json", "sh", "html", "ts", "text", "python", "nginx", "cfg", "jsx", "vue", "svelte"}


class Snippets(unittest.TestCase):
    maxDiff = None

    def test_every_block_names_its_language(self):
        unknown = [block for path in documents() for block in fenced(path) if block.language not in LANGUAGES]
        self.assertEqual([], unknown)

    def test_every_swift_block_compiles_without_warning(self):
        _, code, output = examples.build()
        self.assertEqual(0, code, output)
        # Neither what a block leaves unused, nor the manifests of other packages.
        others = r"never (used|mutated|read)|^warning: 'swift-[a-z-]+': found \d+ file"
        warnings = [line for line in output.splitlines() if "warning:" in line and not re.search(others, line)]
        self.assertEqual("", "\n".join(warnings))

    def test_tests_in_swift_blocks_pass(self):
        count, output = examples.run_tests("DocumentTests")
        self.assertGreater(count, 3, output)

    def test_every_javascript_block_is_a_module(self):
        for block in all_blocks("js"):
            with self.subTest(block), tempfile.NamedTemporaryFile("w", suffix=".mjs") as file:
                file.write(block.text)
                file.flush()
                done = subprocess.run(["node", "--check", file.name], capture_output=True, text=True)
                self.assertEqual(0, done.returncode, done.stderr)

    def test_shell_blocks_parse_and_use_existing_options(self):
        for block in all_blocks("sh"):
            with self.subTest(block):
                done = subprocess.run(["bash", "-n"], input=block.text, capture_output=True, text=True)
                self.assertEqual((0, ""), (done.returncode, done.stderr))
                for line in re.findall(r"^waybridge .*", block.text.replace("\\\n", " "), re.M):
                    options, known = set(re.findall(r"\s(--[a-z-]+)", line)), self.help_for(line)
                    self.assertEqual([], [option for option in options if not re.search(rf"{option}\b", known)], line)

    def test_html_blocks_work_with_content_security_policy_of_server(self):
        """A page that a reader pastes into the folder of `--web` may not depend on a script that the browser blocks."""
        browser = Chromium(dark=False, motion=False)
        self.addCleanup(browser.quit)
        # A dialog would stop the test.
        browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": "globalThis.prompt = () => null"})
        count = 0
        for path in documents():
            pages = [block for block in fenced(path) if block.language == "html"]
            if not pages:
                continue
            with tempfile.TemporaryDirectory() as folder:
                web = pathlib.Path(folder)
                for name, text in files(path).items():
                    file = web / name.removeprefix("web/")
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(text)
                address = self.serve(web)
                for number, block in enumerate(pages):
                    (web / f"block-{number}.html").write_text(block.text)
                    with self.subTest(block):
                        browser.get(f"{address}/block-{number}.html")
                        self.assertEqual([], [error for error in browser.errors() if "Content Security Policy" in error])
                        count += 1
        self.assertGreater(count, 5)

    def serve(self, web):
        """A server of the folder `web`; its address."""
        command = [os.environ["WAYBRIDGE"], "serve", "--web", str(web), "--port", "0"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait, timeout=30)
        self.addCleanup(server.send_signal, signal.SIGTERM)
        return server.stdout.readline().strip().removeprefix("listening on ")

    def help_for(self, line):
        """What the command of a line tells of itself: the innermost, where a command has commands of its own."""
        command, known = [os.environ["WAYBRIDGE"]], ""
        for word in line.split()[1:]:
            known = subprocess.run([*command, "--help"], check=True, capture_output=True, text=True).stdout
            if not re.search(rf"^  {re.escape(word)}  ", known.partition("SUBCOMMANDS:")[2], re.M):
                break
            command.append(word)
        return known

    def test_every_json_block_matches_its_schema(self):
        table = jsonschema.Draft202012Validator(json.loads((ROOT / "protocol/schema/table.schema.json").read_text()))
        policy = json.loads((ROOT / "protocol/schema/policy.schema.json").read_text())
        count = 0
        for block in all_blocks("json"):
            methods = {}
            for text in self.texts(block):
                with self.subTest(block, text=text):
                    value = json.loads(text)
                    if "jsonrpc" in value:
                        self.assertEqual([], self.faults(value, methods))
                        count += 1
                    elif "routes" in value:
                        self.assertEqual([], [fault.message for fault in table.iter_errors(value)])
                    elif "rules" in value:
                        self.assertEqual([], [fault.message for fault in jsonschema.Draft7Validator(policy).iter_errors(value)])
        self.assertGreater(count, 15)

    def texts(self, block):
        """A block is one text, or one a line."""
        try:
            json.loads(block.text)
            return [block.text]
        except json.JSONDecodeError:
            return block.text.splitlines()

    def faults(self, message, methods):
        """`methods` are those of the requests so far, by id."""
        self.assertEqual("2.0", message["jsonrpc"])
        if "method" in message:
            if "id" in message:
                methods[json.dumps(message["id"])] = message["method"]
            return messages.faults_of_call(message)
        method = methods.get(json.dumps(message["id"]))
        return ["an answer to no request of its block"] if method is None else messages.faults_of_response(message, method)


if __name__ == "__main__":
    unittest.main()
