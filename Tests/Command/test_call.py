"""`waybridge call` and the help: what is printed where, and the exit codes."""

import json
import re
import unittest

from command import ROOT, Server, run
from websocket import ScriptedBridge

TABLE = str(ROOT / "protocol/routes/demo.json")


class Calling(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("serve", "--conformance", "--table", TABLE, "--port", "0")
        cls.server.__enter__()
        cls.addClassCleanup(cls.server.__exit__)

    def call(self, *arguments):
        return run("call", *arguments, "--url", self.server.url)

    def test_the_result_is_one_line_of_json_on_standard_output(self):
        params = {"uri": "action://echo", "params": {"text": 'line\nnext "ä"', "n": 1e100, "list": [None, True]}}
        code, output, errors = self.call("router.invoke", json.dumps(params))
        self.assertEqual((0, ""), (code, errors))
        self.assertEqual(1, output.count("\n"))
        self.assertEqual(params["params"], json.loads(output))

    def test_params_may_be_left_out_or_a_list(self):
        self.assertEqual((0, "null\n", ""), self.call("$/ping"))
        self.assertEqual((0, "19\n", ""), self.call("subtract", "[42, 23]"))

    def test_an_error_is_told_on_standard_error_with_its_code_and_data(self):
        code, output, errors = self.call("router.invoke", '{"uri": "action://no-such"}')
        self.assertEqual((1, ""), (code, output))
        self.assertIn("error 2404: ", errors)
        self.assertEqual("noRoute", json.loads(errors[errors.index("{") :])["kind"])

    def test_progress_is_told_on_standard_error(self):
        progress = {"id": 1, "value": {"opened": {"page": "p-1"}}}
        outcome = {"outcome": "finished", "code": 0, "message": "", "data": 7}
        answers = [
            {"jsonrpc": "2.0", "method": "$/progress", "params": progress},
            {"jsonrpc": "2.0", "id": 1, "result": outcome},
        ]
        with ScriptedBridge(answers) as bridge:
            code, output, errors = run("call", "router.open", '{"uri": "native://a"}', "--url", bridge.url)
        self.assertEqual({"jsonrpc": "2.0", "id": 1, "method": "router.open", "params": {"uri": "native://a"}}, bridge.request)
        self.assertEqual((0, outcome), (code, json.loads(output)))
        self.assertEqual(("progress ", progress["value"]), (errors[:9], json.loads(errors[9:])))

    def test_a_connection_that_ends_before_the_answer(self):
        with ScriptedBridge([4200]) as bridge:
            code, output, errors = run("call", "$/ping", "--url", bridge.url)
        self.assertEqual((1, ""), (code, output))
        self.assertIn("error 2599: ", errors)
        self.assertIn("4200", errors)

    def test_params_that_are_no_object_or_array_or_no_json(self):
        for params, reason in [("7", "object or array"), ("{", "not JSON"), ("", "not JSON"), ("[1,]", "not JSON")]:
            code, output, errors = self.call("echo", params)
            self.assertEqual((1, ""), (code, output), params)
            self.assertIn("PARAMS", errors)
            self.assertIn(reason, errors)
            self.assertNotIn("Usage", errors)

    def test_nobody_listening(self):
        with Server("serve", "--port", "0") as server:
            url = server.url
        code, output, errors = run("call", "$/ping", "--url", url)
        self.assertEqual((1, ""), (code, output))
        self.assertIn(url, errors)

    def test_an_address_that_is_none(self):
        for url in ("http://127.0.0.1:1/bridge", "nonsense", "ws://127.0.0.1:99999/bridge"):
            code, output, errors = run("call", "$/ping", "--url", url)
            self.assertEqual((1, ""), (code, output), url)
            self.assertTrue(errors.startswith("Error: "), errors)

    def test_no_method(self):
        code, output, errors = run("call")
        self.assertEqual((64, ""), (code, output))
        self.assertIn("<method>", errors)


class Help(unittest.TestCase):
    def test_each_command_has_help_that_names_its_options(self):
        options = {
            (): {"--help"},
            ("serve",): {"--table", "--host", "--port", "--web", "--conformance", "--help"},
            ("demo",): {"--port", "--help"},
            ("call",): {"--url", "--help"},
        }
        for command, names in options.items():
            code, output, errors = run(*command, "--help")
            self.assertEqual((0, ""), (code, errors), command)
            self.assertEqual(names, set(re.findall(r"(?:^|[\s\[])(--[a-z-]+)", output)), command)
        self.assertEqual({"serve", "demo", "call"}, set(re.findall(r"^  (serve|demo|call)\b", run("--help")[1], re.M)))

    def test_the_exit_codes_are_told(self):
        for command in ("serve", "call"):
            self.assertRegex(run(command, "--help")[1], r"(?s)exit code is.*64")


if __name__ == "__main__":
    unittest.main()
