"""`waybridge replay`: a session that was recorded is played against a bridge, and what differs is told."""

import json
import pathlib
import socket
import subprocess
import tempfile
import unittest

from command import ROOT, WAYBRIDGE, Server, environment, run
from rawsocket import WebSocket

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


def watched(port):
    """Who watches, a phone, and its session."""
    watcher = Client(port, "inspector")
    phone = Client(port, "phone", hosts=[{"scheme": "native", "kind": "page"}, {"patterns": ["scan://code"], "kind": "task"}])
    session = phone.hello["session"]
    watcher.ask("admin.watch", session=session, messages=True, limit=65536)
    return watcher, phone, session


def end(watcher, phone, call, page):
    """Ends the page that a call has opened, and the recording when all is told."""
    phone.ask("navigation.finish", page=page, result={"data": {"street": "Dock Road"}})
    phone.answer(call)
    phone.ask("router.canOpen", uri="native://address/8")
    while not any(each.get("method") == "router.canOpen" for each in watcher.records):
        watcher.next()
    for client in (phone, watcher):
        client.socket.close()


def record(port):
    """Records what a phone does, as the inspector writes it."""
    watcher, phone, session = watched(port)
    head = watcher.ask("admin.session", session=session)
    del head["records"]
    phone.ask("router.invoke", uri="action://echo", params={"word": "hello"})
    page = phone.begin("router.open", uri="native://address/7")
    phone.shown(page)
    phone.ask("navigation.stack")
    phone.ask("router.invoke", uri="scan://code")
    phone.ask("router.invoke", uri="action://nowhere")
    end(watcher, phone, page, "p1")
    # When it was does not matter, and would change the file each time.
    start = min(each["at"] for each in watcher.records)
    rows = [{**each, "at": round(each["at"] - start, 3)} for each in watcher.records]
    return "".join(json.dumps(row) + "\n" for row in [{"type": "recording", "version": 1, **head, "at": 0}, *rows])


def record_open_page(port):
    """Records a phone from when two of its pages are there already until one has ended, as the inspector writes it."""
    watcher, phone, session = watched(port)
    kept = phone.begin("router.open", uri="native://address/6")
    phone.shown(kept)
    page = phone.begin("router.open", uri="native://address/7")
    phone.shown(page)
    # What has begun to wait is told a while later.
    while sum(each.get("state") == "waits" for each in watcher.records) < 2:
        watcher.next()
    head = watcher.ask("admin.session", session=session)
    del head["records"]
    phone.ask("navigation.stack")
    phone.ask("router.invoke", uri="scan://code")
    end(watcher, phone, page, "p2")
    return [{"type": "recording", "version": 1, **head}, *watcher.records]


def text_of(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


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
        return text_of(rows)

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

    def test_a_page_that_was_there_is_opened_once_and_its_end_is_compared(self):
        rows = record_open_page(self.server.port)
        self.assertEqual(["p1", "p2"], [page["id"] for page in rows[0]["stack"]["pages"]])
        self.assertEqual((0, "4 calls, 5 answers compared, 0 differences\n", ""), self.replay(text_of(rows)))
        self.assertEqual((0, "4 calls, 5 answers compared, 0 differences\n", ""), self.replay(text_of(rows), "--timed"))
        (line,) = [n for n, row in enumerate(rows, 1) if row.get("outcome") and row.get("method") == "router.open"]
        rows[line - 1]["result"]["data"]["street"] = "Mill Lane"
        code, output, _ = self.replay(text_of(rows))
        self.assertEqual(
            (1, [f'{line}: router.open native://address/7: result.data.street: "Mill Lane" has become "Dock Road"', "4 calls, 5 answers compared, 1 differences"]),
            (code, output.splitlines()))

    def test_what_had_begun_before_the_recording_is_not_called_again(self):
        rows = self.rows()
        kept = next(row for row in rows if row.get("uri") == "action://echo")
        asked = next(row for row in rows if row.get("method") == "task.run")
        rows[0].update(at=1000, calls=[{"call": 7}])
        # One that waits, what is asked for it, and one that had ended.
        waits = {**kept, "at": 10, "call": 7, "method": "router.invoke", "uri": "scan://code", "params": {"uri": "scan://code"}, "ms": 1100}
        rows = [rows[0], {**kept, "at": 900}, {**asked, "at": 1050, "call": 7}, waits, {**kept, "at": 1100}]
        self.assertEqual((0, "1 calls, 1 answers compared, 0 differences; 2 messages cannot be played\n", ""), self.replay(text_of(rows)))

    def test_a_page_that_was_there_and_nobody_shows_is_told(self):
        rows = self.rows()
        rows[0]["stack"]["pages"] = [{"id": "p40", "uri": "windows://main", "style": "push", "params": {}, "host": "c-1"}]
        echo = next(row for row in rows if row.get("uri") == "action://echo")
        end = {**echo, "at": -20, "method": "router.open", "uri": "windows://main", "page": "p40", "ms": 30, "result": {"outcome": "dismissed"}}
        code, output, _ = self.replay(text_of([rows[0], echo, end]))
        self.assertEqual(1, code)
        first, last = output.splitlines()
        self.assertRegex(first, "^the page p40 windows://main, which was there, is not opened: the error 2404: ")
        self.assertEqual("1 calls, 1 answers compared, 1 differences", last)

    def test_a_page_that_was_there_is_not_waited_for_without_limit(self):
        rows = self.rows()
        # The demo holds it until somebody has logged in, which nobody does here.
        rows[0]["stack"]["pages"] = [{"id": "p40", "uri": "native://orders", "style": "push", "params": {}, "host": "c-1"}]
        path = self.folder / "held.jsonl"
        path.write_text(text_of(rows[:1]))
        with Server("demo", "--port", "0") as demo:
            code, output, _ = run("replay", str(path), "--url", demo.url)
        self.assertEqual(
            (1, ["the page p40 native://orders, which was there, is not shown within 10.0 seconds", "0 calls, 0 answers compared, 1 differences"]),
            (code, output.splitlines()))

    def test_a_recording_has_at_most_64_mib(self):
        limit = 64 << 20
        path = self.folder / "long.jsonl"
        with path.open("wb") as file:
            file.truncate(limit + 1)
        code, output, errors = run("replay", str(path), "--url", self.url)
        self.assertEqual((1, "", f"Error: The recording {path} is longer than {limit} bytes\n"), (code, output, errors))
        path.unlink()
        self.assertEqual((1, f"Error: standard input is longer than {limit} bytes\n"), self.fed(input=b" " * (limit + 1))[::2])

    def fed(self, **how):
        """Plays standard input; gives the exit code, standard output and standard error."""
        done = subprocess.run(
            [WAYBRIDGE, "replay", "-", "--url", self.url], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30, env=environment({}), **how)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def test_standard_input_is_played_whatever_it_is(self):
        played = (0, "7 calls, 7 answers compared, 0 differences\n", "")
        self.assertEqual(played, self.fed(input=RECORDING.read_bytes()))
        own, theirs = socket.socketpair()
        with own, theirs:
            own.sendall(RECORDING.read_bytes())
            own.shutdown(socket.SHUT_WR)
            self.assertEqual(played, self.fed(stdin=theirs))
        with RECORDING.open() as file:
            self.assertEqual(played, self.fed(stdin=file))

    def test_what_is_no_recording_is_refused(self):
        for text, place in (('{"type": "call"}\n', ":1: this is no recording"), ("{\n", ":1: this is not JSON"), ("", ":1: this is no recording")):
            code, output, errors = self.replay(text)
            self.assertEqual((1, ""), (code, output))
            self.assertIn(place, errors)
        self.assertEqual(1, run("replay", str(self.folder / "none"), "--url", self.url)[0])

    def test_what_is_left_out_of_a_recording_is_told(self):
        text = RECORDING.read_text() + json.dumps({"type": "incomplete", "left": 3}) + "\n"
        self.assertEqual((0, "7 calls, 7 answers compared, 0 differences; 3 messages cannot be played\n", ""), self.replay(text))
        hostile = text + 2 * (json.dumps({"type": "incomplete", "left": (1 << 63) - 1}) + "\n")
        self.assertEqual((0, ""), self.replay(hostile)[::2])


if __name__ == "__main__":
    unittest.main()
