"""`waybridge call`: what is printed where, and the exit codes."""

import json
import pathlib
import signal
import subprocess
import tempfile
import unittest

from command import ROOT, WAYBRIDGE, Server, environment, run
from rawsocket import ScriptedBridge

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
        self.assertEqual({"jsonrpc": "2.0", "id": 1, "method": "router.open", "params": {"uri": "native://a"}}, bridge.requests[0])
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


# What the client numbers apart from its calls: session.open, and pings.
HELLO = "apart-1"
SESSION = {"session": "s-1", "client": "c-1", "token": "t", "joinToken": "j", "epoch": "e", "protocol": "1.0"}


def answer(number, result):
    return {"jsonrpc": "2.0", "id": number, "result": result}


def event(topic, data):
    return {"jsonrpc": "2.0", "method": "event", "params": {"topic": topic, "data": data, "at": 1700000000000}}


class Watching(unittest.TestCase):
    """`--watch`, mostly against a bridge whose messages are given."""

    def watch(self, *arguments):
        process = subprocess.Popen(
            [WAYBRIDGE, "call", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment({})
        )
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def test_topics_are_subscribed_to_before_the_call_and_each_event_is_a_line(self):
        first, other = event("page.opened", {"page": "p-1"}), event("app.tick", None)
        turns = [[answer(HELLO, SESSION)], [answer(1, {"topics": ["page.*", "app.*"]}), first], [other, answer(2, [1])]]
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

    def test_the_events_of_its_own_call(self):
        with Server("serve", "--conformance", "--port", "0") as server:
            call = ("router.invoke", '{"uri": "action://echo", "params": {"n": 1}}')
            process = self.watch(*call, "--watch", "task.*", "--url", server.url)
            lines = [json.loads(process.stdout.readline()) for _ in range(3)]
            process.send_signal(signal.SIGINT)
            self.assertEqual(0, process.wait(timeout=30))
        self.assertIn({"result": {"n": 1}}, lines)
        topics = [line["topic"] for line in lines if "topic" in line]
        self.assertEqual(["task.started", "task.finished"], topics)

    def test_a_connection_that_ends_is_an_error(self):
        with ScriptedBridge([answer(HELLO, SESSION)], [answer(1, {"topics": ["a"]}), event("a", 1), 4200]) as bridge:
            code, output, errors = run("call", "--watch", "a", "--url", bridge.url)
        self.assertEqual((1, 1), (code, json.loads(output)["data"]))
        self.assertIn("4200", errors)

    def test_a_call_that_fails_ends_the_watching(self):
        refusal = {"jsonrpc": "2.0", "id": 2, "error": {"code": 2404, "message": "no route"}}
        with ScriptedBridge([answer(HELLO, SESSION)], [answer(1, {"topics": ["a"]})], [refusal]) as bridge:
            code, output, errors = run("call", "router.canOpen", "--watch", "a", "--url", bridge.url)
        self.assertEqual((1, ""), (code, output))
        self.assertIn("error 2404: no route", errors)

    def test_a_signal_ends_it_although_a_call_waits(self):
        with ScriptedBridge([answer(HELLO, SESSION)], [answer(1, {"topics": ["a"]})], [event("a", 1)]) as bridge:
            process = self.watch("router.open", '{"uri": "a:b"}', "--watch", "a", "--url", bridge.url)
            process.stdout.readline()
            process.send_signal(signal.SIGINT)
            self.assertEqual(0, process.wait(timeout=30))

    def test_nothing_to_do(self):
        code, output, errors = run("call")
        self.assertEqual((64, ""), (code, output))
        self.assertIn("METHOD", errors)


class Token(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name, "token")

    def write(self, data, mode=0o600):
        self.path.write_bytes(data)
        self.path.chmod(mode)
        return str(self.path)

    def test_it_opens_the_session_without_the_end_of_its_line(self):
        for data, token in [(b"secret", "secret"), (b"secret\n", "secret"), ("ä b\r\n".encode(), "ä b")]:
            with ScriptedBridge([answer(HELLO, SESSION)], [answer("apart-2", None)]) as bridge:
                done = run("call", "$/ping", "--token-file", self.write(data), "--url", bridge.url)
            self.assertEqual((0, "null\n", ""), done)
            self.assertEqual(["session.open", "$/ping"], [request["method"] for request in bridge.requests])
            self.assertEqual(token, bridge.requests[0]["params"]["token"])

    def test_it_may_come_from_a_pipe(self):
        with ScriptedBridge([answer(HELLO, SESSION)], [answer("apart-2", None)]) as bridge:
            script = '"$1" call "\\$/ping" --token-file <(echo secret) --url "$2"'
            subprocess.run(["bash", "-c", script, "bash", WAYBRIDGE, bridge.url], capture_output=True, timeout=30)
        self.assertEqual("secret", bridge.requests[0]["params"]["token"])

    def test_a_variable_may_name_the_file(self):
        with ScriptedBridge([answer(HELLO, SESSION)], [answer("apart-2", None)]) as bridge:
            run("call", "$/ping", WAYBRIDGE_URL=bridge.url, WAYBRIDGE_TOKEN_FILE=self.write(b"secret"))
        self.assertEqual("secret", bridge.requests[0]["params"]["token"])

    def test_what_is_no_token_is_refused_before_anything_is_sent(self):
        for data, mode, reason in [
            (b"", 0o600, "is empty"), (b"\n", 0o600, "is empty"), (b"a\nb\n", 0o600, "one line"),
            (b"a\0", 0o600, "one line"), (b"\xff", 0o600, "UTF-8"), (b"a" * 20_000, 0o600, "longer than 16384 bytes"),
            (b"a", 0o640, "chmod 600"), (b"a", 0o604, "mode 604"), (b"a", 0o620, "mode 620"),
        ]:  # fmt: skip
            path = self.write(data, mode)
            code, output, errors = run("call", "$/ping", "--token-file", path, "--url", "ws://127.0.0.1:1/bridge")
            self.assertEqual((1, ""), (code, output))
            self.assertIn(f"The token file {path} ", errors)
            self.assertIn(reason, errors)

    def test_without_one_it_says_that_one_is_needed(self):
        secret = self.write(b"s" * 48)
        with Server("serve", "--conformance", "--port", "0", "--token-secret-file", secret) as server:
            for more in ([], ["--watch", "news"]):
                code, output, errors = run("call", "rpc.discover", *more, "--url", server.url)
                self.assertEqual((1, ""), (code, output))
                self.assertIn("error 2401: ", errors)
                self.assertIn("(--token-file); see waybridge token make", errors)

    def test_a_file_that_is_not_there_or_a_folder(self):
        for path in ("/no/such/token", str(self.path.parent)):
            code, output, errors = run("call", "$/ping", "--token-file", path)
            self.assertEqual((1, ""), (code, output))
            self.assertIn(f"The token file {path} cannot be read: ", errors)


if __name__ == "__main__":
    unittest.main()
