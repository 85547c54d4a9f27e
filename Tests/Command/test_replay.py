"""`waybridge replay`: plays a recorded session against a bridge, and reports the differences."""

import json
import pathlib
import socket
import subprocess
import tempfile
import unittest

from command import ROOT, WAYBRIDGE, Server, environment, run
from rawsocket import WebSocket

RECORDING = pathlib.Path(__file__).with_name("recording.jsonl")
POLICY = {"rules": [{"name": "all", "allow": ["*"], "interceptors": True, "server": True}]}
TABLE = ROOT / "protocol/routes/demo.json"


class Client:
    """A client that responds to every request."""

    def __init__(self, port, name, **members):
        self.socket = WebSocket(port, subprotocol="waybridge.v1")
        self.last = 0
        self.responses = {}
        self.records = []
        params = {"protocol": ["1.0"], "client": {"name": name, "version": "1"}, **members}
        self.hello = self.request("session.open", **params)

    def request(self, method, **params):
        return self.response(self.begin(method, **params))

    def begin(self, method, **params):
        self.last += 1
        self.socket.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        return self.last

    def response(self, number):
        while number not in self.responses:
            self.next()
        return self.responses.pop(number)

    def next(self):
        message = self.socket.receive()
        if message.get("method") == "admin.records":
            self.records += message["params"]["records"]
        elif "method" in message and "id" in message:
            self.socket.send({"jsonrpc": "2.0", "id": message["id"], "result": self.respond(message)})
        elif "id" in message:
            self.responses[message["id"]] = message.get("result", message.get("error"))
        return message

    def respond(self, message):
        return {"scanned": 7} if message["method"] == "task.run" else None

    def shown(self, number):
        """Waits until the page of a call is shown."""
        while self.next().get("params", {}).get("id") != number:
            pass


def open_session(port):
    """Opens a session; returns the client that watches it, the phone that is its host, and its ID."""
    watcher = Client(port, "inspector")
    phone = Client(port, "phone", hosts=[{"scheme": "native", "kind": "page"}, {"patterns": ["scan://code"], "kind": "task"}])
    session = phone.hello["session"]
    watcher.request("admin.watch", session=session, messages=True, limit=65536)
    return watcher, phone, session


def end(watcher, phone, call, page):
    """Ends the page that a call has opened, and the recording when everything was reported."""
    phone.request("navigation.finish", page=page, result={"data": {"id": "7", "name": "Home", "street": "Dock Road", "city": "Bergen"}})
    phone.response(call)
    phone.request("router.canOpen", uri="native://address/8")
    while not any(each.get("method") == "router.canOpen" for each in watcher.records):
        watcher.next()
    for client in (phone, watcher):
        client.socket.close()


def record(port):
    """Records the calls of a phone, in the inspector's format."""
    watcher, phone, session = open_session(port)
    head = watcher.request("admin.session", session=session)
    del head["records"]
    phone.request("router.invoke", uri="action://echo", params={"word": "hello"})
    page = phone.begin("router.open", uri="native://address/7")
    phone.shown(page)
    phone.request("navigation.stack")
    phone.request("router.invoke", uri="scan://code")
    phone.request("router.invoke", uri="action://nowhere")
    end(watcher, phone, page, "p1")
    # The time does not matter, and would change the file each time.
    start = min(each["at"] for each in watcher.records)
    rows = [{**each, "at": round(each["at"] - start, 3)} for each in watcher.records]
    return "".join(json.dumps(row) + "\n" for row in [{"type": "recording", "version": 1, **head, "at": 0}, *rows])


def record_open_page(port):
    """Records a phone that has two pages already, until one has ended, in the inspector's format."""
    watcher, phone, session = open_session(port)
    kept = phone.begin("router.open", uri="native://address/6")
    phone.shown(kept)
    page = phone.begin("router.open", uri="native://address/7")
    phone.shown(page)
    # Waiting calls are reported a while later.
    while sum(each.get("state") == "waits" for each in watcher.records) < 2:
        watcher.next()
    head = watcher.request("admin.session", session=session)
    del head["records"]
    phone.request("navigation.stack")
    phone.request("router.invoke", uri="scan://code")
    end(watcher, phone, page, "p2")
    return [{"type": "recording", "version": 1, **head}, *watcher.records]


# A registration of each kind that a session can have.
REGISTRATIONS = [
    {"scheme": "native", "kind": "page"},
    {"patterns": ["scan://code"], "kind": "task"},
    {"patterns": ["service://Clock/now"], "kind": "service"},
    {"patterns": ["everywhere://scan"], "kind": "task", "scope": "server"},
    {"patterns": ["scan://code"], "kind": "interceptor", "name": "limit", "priority": 2, "timeoutMs": 5000},
]


class Decider(Client):
    """A client that changes or refuses intercepted calls, and keeps its pages open once."""

    leaves = 0

    def respond(self, message):
        if message["method"] == "router.intercept":
            params = message["params"]["params"]
            return {"decision": "refuse", "reason": "too much"} if params.get("sum") == 7 else {"decision": "change", "params": {"sum": 1}}
        if message["method"] == "page.leave":
            self.leaves += 1
            return {"allow": False, "reason": "not saved"} if self.leaves == 1 else {"allow": True}
        return super().respond(message)


def record_registrations(port, is_registered_later):
    """Records a client with a registration of each kind, at the start or later, and a leave guard."""
    watcher = Client(port, "inspector")
    phone = Decider(port, "phone", hosts=[] if is_registered_later else [each for each in REGISTRATIONS if each.get("scope") is None])
    session = phone.hello["session"]
    watcher.request("admin.watch", session=session, messages=True, limit=65536)
    head = watcher.request("admin.session", session=session)
    del head["records"]
    if is_registered_later:
        for each in REGISTRATIONS:
            phone.request("host.register", hosts=[each])
    for uri in ("scan://code", "service://Clock/now", *(["everywhere://scan"] if is_registered_later else [])):
        phone.request("router.invoke", uri=uri)
    phone.request("router.invoke", uri="scan://code", params={"sum": 7})
    opened = [phone.begin("router.open", uri=f"native://address/{number}") for number in (7, 8)]
    for each in opened:
        phone.shown(each)
    phone.request("page.setGuard", page="p2", timeoutMs=5000)
    phone.request("navigation.back")
    phone.request("navigation.back")
    phone.request("page.setGuard", page="p1")
    phone.request("page.setGuard", page="p1", enabled=False)
    if is_registered_later:
        phone.request("host.unregister", hosts=REGISTRATIONS[-1:])
        phone.request("router.invoke", uri="scan://code")
    end(watcher, phone, opened[0], "p1")
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
        """The recording; a function can change each of its rows."""
        rows = self.rows()
        for row in rows:
            change(row)
        return text_of(rows)

    def test_stored_recording_can_be_replayed(self):
        code, output, errors = run("replay", str(RECORDING), "--url", self.url)
        self.assertEqual((0, "7 calls, 7 results compared, 0 differences\n", ""), (code, output, errors))

    def test_new_recording_can_be_replayed(self):
        text = record(self.server.port)
        self.assertEqual((0, "7 calls, 7 results compared, 0 differences\n", ""), self.replay(text))
        self.assertEqual((0, "7 calls, 7 results compared, 0 differences\n", ""), self.replay(text, "--timed"))

    def test_each_kind_of_registration_is_replayed(self):
        for is_registered_later in (False, True):
            with self.subTest(is_registered_later=is_registered_later):
                text = text_of(record_registrations(self.server.port, is_registered_later))
                code, output, errors = self.replay(text)
                self.assertRegex(output, r"^\d+ calls, \d+ results compared, 0 differences\n$")
                self.assertEqual((0, ""), (code, errors))
                self.assertIn('"router.intercept"', text)
                self.assertIn('"page.leave"', text)
                # The recorded decisions are repeated, and not the usual ones.
                other = text.replace('"too much"', '"too little"')
                self.assertNotEqual(text, other)
                self.assertEqual((0, ""), self.replay(other)[::2])

    def test_server_wide_registration_stays_server_wide(self):
        path, policy = self.folder / "registrations.jsonl", self.folder / "no-server.json"
        path.write_text(text_of(record_registrations(self.server.port, True)))
        policy.write_text(json.dumps({"rules": [{name: value for name, value in POLICY["rules"][0].items() if name != "server"}]}))
        with Server("serve", "--port", "0", "--table", str(TABLE), "--policy", str(policy), "--conformance") as server:
            code, output, _ = run("replay", str(path), "--url", server.url)
        self.assertEqual(1, code)
        self.assertRegex(output, r"(?m)^\d+: host.register: a result has become the error 2403: ")

    def test_different_response_is_reported_with_line(self):
        def change(row):
            if row.get("uri") == "action://echo":
                row["result"] = {"word": "bye", "more": [1]}

        line = next(n for n, row in enumerate(self.rows(), 1) if row.get("uri") == "action://echo")
        code, output, errors = self.replay(self.changed(change))
        name = f"{line}: router.invoke action://echo: result"
        self.assertEqual(
            [f'{name}.word: "bye" has become "hello"', f"{name}.more is missing; it was [1]", "7 calls, 7 results compared, 2 differences"], output.splitlines())
        self.assertEqual((1, ""), (code, errors))
        self.assertEqual(0, self.replay(self.changed(change), "--ignore", "action://*")[0])

    def test_error_instead_of_result_is_reported(self):
        def change(row):
            if row.get("uri") == "action://nowhere":
                row.update(code=0, result=None)

        code, output, _ = self.replay(self.changed(change))
        self.assertEqual(1, code)
        self.assertIn("a result has become the error 2404", output)

    def test_unrecorded_request_is_reported(self):
        rows = [row for row in self.rows() if row.get("method") != "task.run"]
        code, output, _ = self.replay("".join(json.dumps(row) + "\n" for row in rows))
        self.assertEqual(1, code)
        self.assertRegex(output, r"(?m)^c-\S+ receives task.run scan://code, which is not in the recording$")

    def test_initial_pages_are_opened_first(self):
        rows = self.rows()
        rows[0]["stack"]["pages"] = [{"id": "p40", "uri": "native://address/1", "style": "push", "params": {}, "host": rows[0]["clients"][0]["client"]}]
        # The pages that it opens itself then have other numbers.
        kept = [row for row in rows[1:] if row.get("uri") == "action://echo"]
        call = {**kept[0], "at": 5, "method": "navigation.contains", "params": {"uri": "p40"}, "uri": None}
        call["result"] = {"id": "p40", "uri": "native://address/1", "route": "address", "kind": "page", "style": "push", "params": {"id": "1"}, "host": rows[0]["clients"][0]["client"]}
        code, output, errors = self.replay("".join(json.dumps(row) + "\n" for row in [rows[0], *kept, call]))
        self.assertEqual((0, "2 calls, 2 results compared, 0 differences\n", ""), (code, output, errors))

    def test_initial_page_is_opened_once_and_outcome_compared(self):
        rows = record_open_page(self.server.port)
        self.assertEqual(["p1", "p2"], [page["id"] for page in rows[0]["stack"]["pages"]])
        self.assertEqual((0, "4 calls, 5 results compared, 0 differences\n", ""), self.replay(text_of(rows)))
        self.assertEqual((0, "4 calls, 5 results compared, 0 differences\n", ""), self.replay(text_of(rows), "--timed"))
        (line,) = [n for n, row in enumerate(rows, 1) if row.get("outcome") and row.get("method") == "router.open"]
        rows[line - 1]["result"]["data"]["street"] = "Mill Lane"
        code, output, _ = self.replay(text_of(rows))
        self.assertEqual(
            (1, [f'{line}: router.open native://address/7: result.data.street: "Mill Lane" has become "Dock Road"', "4 calls, 5 results compared, 1 differences"]),
            (code, output.splitlines()))

    def test_earlier_calls_are_not_repeated(self):
        rows = self.rows()
        kept = next(row for row in rows if row.get("uri") == "action://echo")
        request = next(row for row in rows if row.get("method") == "task.run")
        rows[0].update(at=1000, calls=[{"call": 7}])
        # A waiting call, its request, and an ended one.
        waits = {**kept, "at": 10, "call": 7, "method": "router.invoke", "uri": "scan://code", "params": {"uri": "scan://code"}, "ms": 1100}
        rows = [rows[0], {**kept, "at": 900}, {**request, "at": 1050, "call": 7}, waits, {**kept, "at": 1100}]
        self.assertEqual((0, "1 calls, 1 results compared, 0 differences; 2 messages cannot be replayed\n", ""), self.replay(text_of(rows)))

    def test_initial_page_without_host_is_reported(self):
        rows = self.rows()
        rows[0]["stack"]["pages"] = [{"id": "p40", "uri": "windows://main", "style": "push", "params": {}, "host": "c-1"}]
        echo = next(row for row in rows if row.get("uri") == "action://echo")
        end = {**echo, "at": -20, "method": "router.open", "uri": "windows://main", "page": "p40", "ms": 30, "result": {"outcome": "dismissed"}}
        code, output, _ = self.replay(text_of([rows[0], echo, end]))
        self.assertEqual(1, code)
        first, last = output.splitlines()
        self.assertRegex(first, "^the page p40 windows://main, open at the start, is not opened: the error 2404: ")
        self.assertEqual("1 calls, 1 results compared, 1 differences", last)

    def test_wait_for_initial_page_has_a_timeout(self):
        rows = self.rows()
        # The demo holds it until a user has logged in, which does not happen here.
        rows[0]["stack"]["pages"] = [{"id": "p40", "uri": "native://orders", "style": "push", "params": {}, "host": "c-1"}]
        path = self.folder / "held.jsonl"
        path.write_text(text_of(rows[:1]))
        with Server("demo", "--port", "0") as demo:
            code, output, _ = run("replay", str(path), "--url", demo.url)
        self.assertEqual(
            (1, ["the page p40 native://orders, open at the start, is not shown within 10.0 seconds", "0 calls, 0 results compared, 1 differences"]),
            (code, output.splitlines()))

    def test_recording_above_64_mib_is_rejected(self):
        limit = 64 << 20
        path = self.folder / "long.jsonl"
        with path.open("wb") as file:
            file.truncate(limit + 1)
        code, output, errors = run("replay", str(path), "--url", self.url)
        self.assertEqual((1, "", f"Error: the recording {path} is longer than {limit} bytes\n"), (code, output, errors))
        path.unlink()
        self.assertEqual((1, f"Error: standard input is longer than {limit} bytes\n"), self.fed(input=b" " * (limit + 1))[::2])

    def fed(self, **how):
        """Plays standard input; returns the exit code, standard output and standard error."""
        done = subprocess.run(
            [WAYBRIDGE, "replay", "-", "--url", self.url], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30, env=environment({}), **how)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def test_recording_can_be_any_standard_input(self):
        played = (0, "7 calls, 7 results compared, 0 differences\n", "")
        self.assertEqual(played, self.fed(input=RECORDING.read_bytes()))
        own, theirs = socket.socketpair()
        with own, theirs:
            own.sendall(RECORDING.read_bytes())
            own.shutdown(socket.SHUT_WR)
            self.assertEqual(played, self.fed(stdin=theirs))
        with RECORDING.open() as file:
            self.assertEqual(played, self.fed(stdin=file))

    def test_invalid_recording_is_rejected(self):
        for text, place in (('{"type": "call"}\n', ":1: this is not a recording"), ("{\n", ":1: this is not JSON"), ("", ":1: this is not a recording")):
            code, output, errors = self.replay(text)
            self.assertEqual((1, ""), (code, output))
            self.assertIn(place, errors)
        self.assertEqual(1, run("replay", str(self.folder / "none"), "--url", self.url)[0])

    def test_omitted_messages_are_reported(self):
        text = RECORDING.read_text() + json.dumps({"type": "incomplete", "left": 3}) + "\n"
        self.assertEqual((0, "7 calls, 7 results compared, 0 differences; 3 messages cannot be replayed\n", ""), self.replay(text))
        hostile = text + 2 * (json.dumps({"type": "incomplete", "left": (1 << 63) - 1}) + "\n")
        self.assertEqual((0, ""), self.replay(hostile)[::2])


if __name__ == "__main__":
    unittest.main()
