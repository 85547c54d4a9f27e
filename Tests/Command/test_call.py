"""`waybridge call`: its output on each stream, and the exit codes."""

import json
import pathlib
import signal
import subprocess
import tempfile
import unittest

from command import ROOT, WAYBRIDGE, Server, environment, run
from rawsocket import ScriptedBridge

TABLE = str(ROOT / "protocol/routes/demo.json")


class CallCommand(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("serve", "--conformance", "--table", TABLE, "--port", "0")
        cls.server.__enter__()
        cls.addClassCleanup(cls.server.__exit__)

    def call(self, *arguments):
        return run("call", *arguments, "--url", self.server.url)

    def test_result_is_one_json_line_on_stdout(self):
        params = {"uri": "action://echo", "params": {"text": 'line\nnext "ä"', "n": 1e100, "list": [None, True]}}
        code, output, errors = self.call("router.invoke", json.dumps(params))
        self.assertEqual((0, ""), (code, errors))
        self.assertEqual(1, output.count("\n"))
        self.assertEqual(params["params"], json.loads(output))

    def test_params_can_be_omitted_or_an_array(self):
        self.assertEqual((0, "null\n", ""), self.call("$/ping"))
        self.assertEqual((0, "19\n", ""), self.call("subtract", "[42, 23]"))

    def test_error_is_printed_with_code_and_data(self):
        code, output, errors = self.call("router.invoke", '{"uri": "action://no-such"}')
        self.assertEqual((1, ""), (code, output))
        self.assertIn("error 2404: ", errors)
        self.assertEqual("noRoute", json.loads(errors[errors.index("{") :])["kind"])

    def test_progress_is_printed_on_stderr(self):
        progress = {"id": 1, "value": {"opened": {"page": "p-1"}}}
        outcome = {"outcome": "finished", "code": 0, "message": "", "data": 7}
        messages = [
            {"jsonrpc": "2.0", "method": "$/progress", "params": progress},
            {"jsonrpc": "2.0", "id": 1, "result": outcome},
        ]
        with ScriptedBridge(messages) as bridge:
            code, output, errors = run("call", "router.open", '{"uri": "native://a"}', "--url", bridge.url)
        self.assertEqual({"jsonrpc": "2.0", "id": 1, "method": "router.open", "params": {"uri": "native://a"}}, bridge.requests[0])
        self.assertEqual((0, outcome), (code, json.loads(output)))
        self.assertEqual(("progress ", progress["value"]), (errors[:9], json.loads(errors[9:])))

    def test_connection_closed_before_response(self):
        with ScriptedBridge([4200]) as bridge:
            code, output, errors = run("call", "$/ping", "--url", bridge.url)
        self.assertEqual((1, ""), (code, output))
        self.assertIn("error 2599: ", errors)
        self.assertIn("4200", errors)

    def test_invalid_params_are_rejected(self):
        for params, reason in [
            ("7", "object or array"), ("{", "not JSON"), ("", "not JSON"), ("[1,]", "not JSON: line 1, column "),
            ('{"a": 1,\n  "b": }', "not JSON: line 2, column 8: "),
        ]:
            code, output, errors = self.call("echo", params)
            self.assertEqual((1, ""), (code, output), params)
            self.assertIn("PARAMS", errors)
            self.assertIn(reason, errors)
            self.assertNotIn("Usage", errors)

    def test_no_server_is_listening(self):
        with Server("serve", "--port", "0") as server:
            url = server.url
        code, output, errors = run("call", "$/ping", "--url", url)
        self.assertEqual((1, ""), (code, output))
        self.assertEqual(f'Error: cannot connect to "{url}": connection refused; is the server running?\n', errors)

    def test_wrong_path_is_reported_without_data(self):
        with Server("serve", "--port", "0") as server:
            code, output, errors = run("call", "$/ping", "--url", f"ws://127.0.0.1:{server.port}/other")
        self.assertEqual((1, ""), (code, output))
        self.assertIn("HTTP status 404; check the path of the URL", errors)
        self.assertNotIn("{", errors)

    def test_invalid_url_is_rejected(self):
        for url in ("http://127.0.0.1:1/bridge", "nonsense", "ws://127.0.0.1:99999/bridge"):
            code, output, errors = run("call", "$/ping", "--url", url)
            self.assertEqual((1, ""), (code, output), url)
            self.assertTrue(errors.startswith("Error: "), errors)
            self.assertNotIn("{", errors)


# Messages that the client numbers apart from its calls: session.open and pings.
HELLO = "apart-1"
SESSION = {"session": "s-1", "client": "c-1", "token": "t", "joinToken": "j", "epoch": "e", "protocol": "1.0"}


def response(number, result):
    return {"jsonrpc": "2.0", "id": number, "result": result}


def event(topic, data):
    return {"jsonrpc": "2.0", "method": "event", "params": {"topic": topic, "data": data, "at": 1700000000000}}


class WatchOption(unittest.TestCase):
    """`--watch`, mostly with a bridge whose messages are given."""

    def watch(self, *arguments):
        process = subprocess.Popen(
            [WAYBRIDGE, "call", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment({})
        )
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def test_topics_are_subscribed_before_call(self):
        first, other = event("page.opened", {"page": "p-1"}), event("app.tick", None)
        turns = [[response(HELLO, SESSION)], [response(1, {"topics": ["page.*", "app.*"]}), first], [other, response(2, [1])]]
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number.name), ScriptedBridge(*turns) as bridge:
                process = self.watch("router.canOpen", '{"uri": "a:b"}', "--watch", "page.*", "app.*", "--url", bridge.url)
                lines = [json.loads(process.stdout.readline()) for _ in range(3)]
                self.assertCountEqual([first["params"], other["params"], {"result": [1]}], lines)
                self.assertLess(lines.index(first["params"]), lines.index(other["params"]))
                process.send_signal(number)
                self.assertEqual(("", ""), process.communicate(timeout=30))
                self.assertEqual(0, process.returncode)
                hello, subscribe, call = bridge.requests
                self.assertEqual("session.open", hello["method"])
                self.assertEqual({"topics": ["page.*", "app.*"]}, subscribe["params"])
                self.assertEqual(("router.canOpen", {"uri": "a:b"}), (call["method"], call["params"]))

    def test_events_of_own_call_are_printed(self):
        with Server("serve", "--conformance", "--port", "0") as server:
            call = ("router.invoke", '{"uri": "action://echo", "params": {"n": 1}}')
            process = self.watch(*call, "--watch", "task.*", "--url", server.url)
            lines = [json.loads(process.stdout.readline()) for _ in range(3)]
            process.send_signal(signal.SIGINT)
            self.assertEqual(0, process.wait(timeout=30))
        self.assertIn({"result": {"n": 1}}, lines)
        topics = [line["topic"] for line in lines if "topic" in line]
        self.assertEqual(["task.started", "task.finished"], topics)

    def test_closed_connection_is_an_error(self):
        with ScriptedBridge([response(HELLO, SESSION)], [response(1, {"topics": ["a"]}), event("a", 1), 4200]) as bridge:
            code, output, errors = run("call", "--watch", "a", "--url", bridge.url)
        self.assertEqual((1, 1), (code, json.loads(output)["data"]))
        self.assertIn("4200", errors)

    def test_failed_call_ends_watching(self):
        refusal = {"jsonrpc": "2.0", "id": 2, "error": {"code": 2404, "message": "no route"}}
        with ScriptedBridge([response(HELLO, SESSION)], [response(1, {"topics": ["a"]})], [refusal]) as bridge:
            code, output, errors = run("call", "router.canOpen", "--watch", "a", "--url", bridge.url)
        self.assertEqual((1, ""), (code, output))
        self.assertIn("error 2404: no route", errors)

    def test_signal_ends_command_with_pending_call(self):
        with ScriptedBridge([response(HELLO, SESSION)], [response(1, {"topics": ["a"]})], [event("a", 1)]) as bridge:
            process = self.watch("router.open", '{"uri": "a:b"}', "--watch", "a", "--url", bridge.url)
            process.stdout.readline()
            process.send_signal(signal.SIGINT)
            self.assertEqual(0, process.wait(timeout=30))

    def test_missing_method_is_rejected(self):
        code, output, errors = run("call")
        self.assertEqual((64, ""), (code, output))
        self.assertIn("METHOD", errors)


class TokenFile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name, "token")

    def write(self, data, mode=0o600):
        self.path.write_bytes(data)
        self.path.chmod(mode)
        return str(self.path)

    def test_line_end_is_no_part_of_token(self):
        for data, token in [(b"secret", "secret"), (b"secret\n", "secret"), ("ä b\r\n".encode(), "ä b")]:
            with ScriptedBridge([response(HELLO, SESSION)], [response("apart-2", None)]) as bridge:
                done = run("call", "$/ping", "--token-file", self.write(data), "--url", bridge.url)
            self.assertEqual((0, "null\n", ""), done)
            self.assertEqual(["session.open", "$/ping"], [request["method"] for request in bridge.requests])
            self.assertEqual(token, bridge.requests[0]["params"]["token"])

    def test_token_can_be_read_from_pipe(self):
        with ScriptedBridge([response(HELLO, SESSION)], [response("apart-2", None)]) as bridge:
            script = '"$1" call "\\$/ping" --token-file <(echo secret) --url "$2"'
            subprocess.run(["bash", "-c", script, "bash", WAYBRIDGE, bridge.url], capture_output=True, timeout=30)
        self.assertEqual("secret", bridge.requests[0]["params"]["token"])

    def test_environment_variable_names_token_file(self):
        with ScriptedBridge([response(HELLO, SESSION)], [response("apart-2", None)]) as bridge:
            run("call", "$/ping", WAYBRIDGE_URL=bridge.url, WAYBRIDGE_TOKEN_FILE=self.write(b"secret"))
        self.assertEqual("secret", bridge.requests[0]["params"]["token"])

    def test_invalid_token_file_is_rejected_before_connecting(self):
        for data, mode, reason in [
            (b"", 0o600, "is empty"), (b"\n", 0o600, "is empty"), (b"a\nb\n", 0o600, "one line"),
            (b"a\0", 0o600, "one line"), (b"\xff", 0o600, "UTF-8"), (b"a" * 20_000, 0o600, "longer than 16384 bytes"),
            (b"a", 0o640, "chmod 600"), (b"a", 0o604, "mode 604"), (b"a", 0o620, "mode 620"),
        ]:  # fmt: skip
            path = self.write(data, mode)
            code, output, errors = run("call", "$/ping", "--token-file", path, "--url", "ws://127.0.0.1:1/bridge")
            self.assertEqual((1, ""), (code, output))
            self.assertIn(f"the token file {path} ", errors)
            self.assertIn(reason, errors)

    def test_missing_token_is_reported(self):
        secret = self.write(b"s" * 48)
        with Server("serve", "--conformance", "--port", "0", "--token-secret-file", secret) as server:
            for more in ([], ["--watch", "news"]):
                code, output, errors = run("call", "rpc.discover", *more, "--url", server.url)
                self.assertEqual((1, ""), (code, output))
                self.assertIn("error 2401: ", errors)
                self.assertIn("(--token-file); see waybridge token make", errors)

    def test_unreadable_token_file_is_reported(self):
        for path in ("/no/such/token", str(self.path.parent)):
            code, output, errors = run("call", "$/ping", "--token-file", path)
            self.assertEqual((1, ""), (code, output))
            self.assertIn(f"the token file {path} cannot be read: ", errors)


if __name__ == "__main__":
    unittest.main()
