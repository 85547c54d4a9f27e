"""`waybridge replay`: a session that was recorded is played against a bridge, and what differs is told."""

import json
import pathlib
import tempfile
import unittest

from command import ROOT, Server, run
from websocket import WebSocket

RECORDING = pathlib.Path(__file__).with_name("recording.jsonl")
POLICY = {"rules": [{"name": "all", "allow": ["*"]}]}
TABLE = ROOT / "protocol/routes/demo.json"


class Client:
    """A client that answers what it is asked."""

    def __init__(self, port, name, **members):
        self.socket = WebSocket(port, subprotocol="waybridge.v1")
        self.last = 0
        self.answers = {}
        self.records = []
        params = {"protocol": ["1.0"], "client": {"name": name, "version": "1"}, **members}
        self.hello = self.ask("session.open", **params)

    def ask(self, method, **params):
        return self.answer(self.begin(method, **params))

    def begin(self, method, **params):
        self.last += 1
        self.socket.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        return self.last

    def answer(self, number):
        while number not in self.answers:
            self.next()
        return self.answers.pop(number)

    def next(self):
        message = self.socket.receive()
        if message.get("method") == "admin.records":
            self.records += message["params"]["records"]
        elif "method" in message and "id" in message:
            result = {"scanned": 7} if message["method"] == "task.run" else None
            self.socket.send({"jsonrpc": "2.0", "id": message["id"], "result": result})
        elif "id" in message:
            self.answers[message["id"]] = message.get("result", message.get("error"))
        return message

    def shown(self, number):
        """Waits until the page of a call is shown."""
        while self.next().get("params", {}).get("id") != number:
            pass


def record(port):
    """Records what a phone does, as the inspector writes it."""
    watcher = Client(port, "inspector")
    phone = Client(port, "phone", hosts=[{"scheme": "native", "kind": "page"}, {"patterns": ["scan://code"], "kind": "task"}])
    session = phone.hello["session"]
    watcher.ask("admin.watch", session=session, messages=True, limit=65536)
    head = watcher.ask("admin.session", session=session)
    del head["records"]
    phone.ask("router.invoke", uri="action://echo", params={"word": "hello"})
    page = phone.begin("router.open", uri="native://address/7")
    phone.shown(page)
    phone.ask("navigation.stack")
    phone.ask("router.invoke", uri="scan://code")
    phone.ask("router.invoke", uri="action://nowhere")
    phone.ask("navigation.finish", page="p1", result={"data": {"street": "Dock Road"}})
    phone.answer(page)
    phone.ask("router.canOpen", uri="native://address/8")
    while not any(each.get("method") == "router.canOpen" for each in watcher.records):
        watcher.next()
    for client in (phone, watcher):
        client.socket.close()
    # When it was does not matter, and would change the file each time.
    start = min(each["at"] for each in watcher.records)
    rows = [{**each, "at": round(each["at"] - start, 3)} for each in watcher.records]
    return "".join(json.dumps(row) + "\n" for row in [{"type": "recording", "version": 1, **head, "at": 0}, *rows])


class ReplayTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        policy = cls.folder / "policy.json"
        policy.write_text(json.dumps(POLICY))
        cls.server = cls.enterClassContext(Server("serve", "--port", "0", "--table", str(TABLE), "--policy", str(policy), "--conformance"))
        cls.url = f"ws://127.0.0.1:{cls.server.port}/bridge"

    def replay(self, text, *arguments):
        path = self.folder / "played.jsonl"
        path.write_text(text)
        return run("replay", str(path), "--url", self.url, *arguments)

    def rows(self):
        return [json.loads(line) for line in RECORDING.read_text().splitlines()]

    def changed(self, change):
        """The recording, each of whose rows a function may change."""
        rows = self.rows()
        for row in rows:
            change(row)
        return "".join(json.dumps(row) + "\n" for row in rows)

    def test_the_recording_that_is_kept_still_plays(self):
        code, output, errors = run("replay", str(RECORDING), "--url", self.url)
        self.assertEqual((0, "7 calls, 7 answers compared, 0 differences\n", ""), (code, output, errors))

    def test_what_was_just_recorded_plays(self):
        text = record(self.server.port)
        self.assertEqual((0, "7 calls, 7 answers compared, 0 differences\n", ""), self.replay(text))
        self.assertEqual((0, "7 calls, 7 answers compared, 0 differences\n", ""), self.replay(text, "--timed"))

    def test_another_answer_is_told_with_its_place(self):
        def change(row):
            if row.get("uri") == "action://echo":
                row["result"] = {"word": "bye", "more": [1]}

        line = next(n for n, row in enumerate(self.rows(), 1) if row.get("uri") == "action://echo")
        code, output, errors = self.replay(self.changed(change))
        name = f"{line}: router.invoke action://echo: result"
        self.assertEqual(
            [f'{name}.word: "bye" has become "hello"', f"{name}.more is missing; it was [1]", "7 calls, 7 answers compared, 2 differences"], output.splitlines())
        self.assertEqual((1, ""), (code, errors))
        self.assertEqual(0, self.replay(self.changed(change), "--ignore", "action://*")[0])

    def test_an_error_in_the_place_of_a_result_is_told(self):
        def change(row):
            if row.get("uri") == "action://nowhere":
                row.update(code=0, result=None)

        code, output, _ = self.replay(self.changed(change))
        self.assertEqual(1, code)
        self.assertIn("a result has become the error 2404", output)

    def test_what_is_asked_beside_the_recording_is_told(self):
        rows = [row for row in self.rows() if row.get("method") != "task.run"]
        code, output, _ = self.replay("".join(json.dumps(row) + "\n" for row in rows))
        self.assertEqual(1, code)
        self.assertRegex(output, r"(?m)^c-\S+ is asked for task.run scan://code, which is not in the recording$")

    def test_pages_that_were_there_are_opened_first(self):
        rows = self.rows()
        rows[0]["stack"]["pages"] = [{"id": "p40", "uri": "native://address/1", "style": "push", "params": {}, "host": rows[0]["clients"][0]["client"]}]
        # The pages that it opens itself have other numbers then.
        kept = [row for row in rows[1:] if row.get("uri") == "action://echo"]
        call = {**kept[0], "at": 5, "method": "navigation.contains", "params": {"uri": "p40"}, "uri": None}
        call["result"] = {"id": "p40", "uri": "native://address/1", "route": "address", "kind": "page", "style": "push", "params": {"id": "1"}, "host": rows[0]["clients"][0]["client"]}
        code, output, errors = self.replay("".join(json.dumps(row) + "\n" for row in [rows[0], *kept, call]))
        self.assertEqual((0, "2 calls, 2 answers compared, 0 differences\n", ""), (code, output, errors))

    def test_what_is_no_recording_is_refused(self):
        for text, place in (('{"type": "call"}\n', ":1: this is no recording"), ("{\n", ":1: this is not JSON"), ("", ":1: this is no recording")):
            code, output, errors = self.replay(text)
            self.assertEqual((1, ""), (code, output))
            self.assertIn(place, errors)
        self.assertEqual(1, run("replay", str(self.folder / "none"), "--url", self.url)[0])

    def test_what_is_left_out_of_a_recording_is_told(self):
        text = RECORDING.read_text() + json.dumps({"type": "incomplete", "left": 3}) + "\n"
        self.assertEqual((0, "7 calls, 7 answers compared, 0 differences; 3 messages are not in the recording\n", ""), self.replay(text))


if __name__ == "__main__":
    unittest.main()
