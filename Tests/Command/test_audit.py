"""The audit trail in the log of `serve`: who did what, and who was refused what by which rule."""

import contextlib
import json
import pathlib
import signal
import tempfile
import time
import unittest

from captured_output import CapturedOutput, Lines
from command import ROOT, Server
from leak_case import Tokens
from recorded_clients import HELLO, Clients

TABLE = ROOT / "protocol/routes/demo.json"
ORIGIN = "https://shop.example"
RULES = [
    {"name": "administrators", "allow": ["*"], "groups": ["staff"], "server": True},
    {"name": "shells", "allow": ["router.*", "host.*", "navigation.*", "page.call"], "groups": ["shell"]},
    {"name": "nobody upgrades", "deny": ["router.open", "router.invoke"], "routes": ["upgrade"]},
]
# A query, params and a name that must not be in any line.
PRIVATE = "hidden-in-a-query-or-in-params"


def bearer(token):
    return f"Authorization: Bearer {token}"


class Scenario:
    """Performs each administrative action and each refusal once, and says what has to be in the log."""

    def __init__(self, case):
        self.case = case
        self.folder = pathlib.Path(case.enterContext(tempfile.TemporaryDirectory()))
        self.output = CapturedOutput()
        self.output.secret("a query", PRIVATE)
        self.tokens = Tokens(self.output)
        self.table = self.file("table.json", TABLE.read_bytes())
        self.policy = self.file("policy.json", self.rules())
        self.keys = self.file("secret", self.tokens.secret)
        self.expected = []

    def file(self, name, data):
        path = self.folder / name
        # A new file, so that the server never reads half of one.
        new = self.folder / (name + ".new")
        new.write_bytes(data)
        new.chmod(0o600)
        new.rename(path)
        return str(path)

    @staticmethod
    def rules(*more):
        return json.dumps({"rules": RULES + list(more)}).encode()

    def expect(self, client, action, result="done", /, **fields):
        """Expects one record. A client is a dictionary of its fields; None for a change without a client."""
        self.expected.append({"action": action, "result": result} | (client or {}) | fields)

    def refuse(self, client, code, rule=None, **fields):
        self.expect(client, "refuse", "refused", code=code, **({"rule": rule} if rule else {}), **fields)

    def run(self):
        arguments = [
            "serve", "--port", "0", "--table", self.table, "--policy", self.policy, "--token-secret-file", self.keys,
            "--allow-origin", ORIGIN, "--log-level", "trace", "--log-format", "json",
        ]  # fmt: skip
        with Server(*arguments) as self.server, Lines(self.server.process.stderr) as self.lines:
            try:
                self.clients = Clients(self.output, self.server.port)
                with self.clients.stack:
                    for step in (
                        self.refuse_handshakes, self.refuse_requests, self.refuse_tokens, self.join, self.refuse_calls, self.refuse_joins, self.expire,
                        self.administer, self.reload, self.invite, self.push, self.remove,
                    ):  # fmt: skip
                        step()
                self.server.process.send_signal(signal.SIGTERM)
                self.case.assertEqual(0, self.server.process.wait(timeout=30))
            finally:
                self.server.process.kill()
        text = self.output.add("the log", self.lines.text())
        return [json.loads(line) for line in text.splitlines()]

    def open(self, token, *fields, **params):
        """Opens a session. Returns the client, with its fields in the log, and the result."""
        client = self.clients.client("a client", *fields, *([bearer(token)] if token else []))
        response = self.clients.call(client, "session.open", HELLO | params)
        result = self.clients.record_secrets(client, response["result"])
        client.fields = {
            "client": result["client"], "session": result["session"], "address": "127.0.0.1", "name": "test",
        } | {"origin": field.split()[1] for field in fields if field.startswith("Origin:")}  # fmt: skip
        return client, result

    def call(self, client, method, code=None, /, **params):
        response = self.clients.call(client, method, params or None)
        self.case.assertEqual(code, response.get("error", {}).get("code"), (method, response))
        return response.get("result")

    # Refusals before there is a session.

    def refuse_handshakes(self):
        host = f"Host: 127.0.0.1:{self.server.port}"
        for lines, rule, fields in [
            ([host, "Origin: https://evil.example"], "origin", {"origin": "https://evil.example"}),
            ([host, "Origin: null"], "origin", {"origin": "null"}),
            (["Host: evil.example", f"Origin: {ORIGIN}"], "host", {"origin": ORIGIN}),
            ([host, "X-Forwarded-For: 10.0.0.1"], "proxy", {}),
        ]:
            line = f"GET /bridge?token={PRIVATE} HTTP/1.1"
            self.case.assertEqual(403, self.clients.http_request(line, *lines)[0])
            self.refuse({"address": "127.0.0.1"} | fields, 403, rule)

    def refuse_requests(self):
        ping = '{"jsonrpc":"2.0","id":1,"method":"$/ping"}'
        client = {"address": "127.0.0.1", "origin": ORIGIN}
        for token in (None, self.tokens.bad[0]):
            fields = [f"Origin: {ORIGIN}", *([bearer(token)] if token else [])]
            self.case.assertEqual(401, self.clients.post(ping, *fields)[0])
            self.refuse(client, 401, method="POST", target="/rpc")
        line, host = f"GET /metrics?{PRIVATE} HTTP/1.1", f"Host: 127.0.0.1:{self.server.port}"
        self.case.assertEqual(200, self.clients.http_request(line, host)[0])
        denied = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "session.list"})
        self.case.assertIn("2403", self.clients.post(denied, bearer(self.tokens.shell))[1])
        self.refuse({"address": "127.0.0.1", "user": "anna", "client": ..., "session": ...}, 2403, "default", method="session.list")

    def refuse_tokens(self):
        client = {"address": "127.0.0.1", "origin": ORIGIN}
        rejected = self.clients.client("a bad token", f"Origin: {ORIGIN}")
        response = self.clients.call(rejected, "session.open", HELLO | {"token": self.tokens.bad[0]})
        self.case.assertEqual(2401, response["error"]["code"])
        self.refuse(client, 2401, method="session.open")
        plain = self.clients.client("plain", f"Origin: {ORIGIN}", subprotocol=None)
        self.case.assertEqual(4001, self.clients.call(plain, "$/ping"))
        self.refuse(client, 4001)

    # Clients, and their refusals.

    def join(self):
        self.admin, _ = self.open(self.tokens.admin, f"Origin: {ORIGIN}")
        self.admin.fields["user"] = "root"
        self.shell, result = self.open(self.tokens.shell)
        self.shell.fields["user"] = "anna"
        self.other, _ = self.open(self.tokens.make("another shell's", sub="bert", groups=["shell"]))
        self.other.fields["user"] = "bert"
        self.session, self.key = result["session"], result["joinToken"]

    def refuse_calls(self):
        secret = {"secret": PRIVATE}
        for method, params, rule, target in [
            ("router.open", {"uri": f"native://upgrade?{PRIVATE}#x", "params": secret}, "nobody upgrades", "native://upgrade"),
            ("router.invoke", {"uri": "native://upgrade", "params": secret}, "nobody upgrades", "native://upgrade"),
            ("router.open", {"uri": "native://staff/orders"}, "permissions", "native://staff/orders"),
            ("router.open", {"uri": "native://staff/orders", "key": "k"}, "permissions", "native://staff/orders"),
            ("events.subscribe", {"topics": ["x"]}, "default", None),
            ("session.list", {}, "default", None),
            ("session.invite", {"groups": ["staff"]}, "invitation", None),
        ]:
            self.call(self.shell, method, 2403, **params)
            self.refuse(self.shell.fields, 2403, rule, method=method, **({"target": target} if target else {}))
        # Another user, since the trail has at most ten refusals of a user in a second.
        server = {"hosts": [{"scheme": "native", "kind": "task", "scope": "server"}]}
        self.call(self.other, "host.register", 2403, **server)
        self.refuse(self.other.fields, 2403, "default", method="host.register")
        self.call(self.other, "session.renew", 2403, token=self.tokens.admin)
        self.refuse(self.other.fields, 2403, "identity", method="session.renew")
        self.call(self.other, "session.renew", 2401, token=self.tokens.bad[0])
        self.refuse(self.other.fields, 2401, method="session.renew")

    def expire(self):
        token = self.tokens.make("an expiring", sub="eve", groups=["shell"], exp=int(time.time()) + 2)
        client, _ = self.open(token)
        while (message := client.receive()) != 4203:
            self.case.assertEqual("event", message["method"])
        self.refuse(client.fields | {"user": "eve"}, 4203, "identity")

    def refuse_joins(self):
        refused = self.clients.client("a wrong join", f"Origin: {ORIGIN}")
        join = {"session": self.session, "token": PRIVATE}
        self.case.assertEqual(2401, self.clients.call(refused, "session.open", HELLO | {"join": join})["error"]["code"])
        self.refuse({"address": "127.0.0.1", "origin": ORIGIN}, 2401, method="session.open")
        _, result = self.open(self.tokens.shell)
        resumed = {name: result[name] for name in ("client", "token", "epoch")} | {"received": 0}
        other = self.clients.client("another origin", f"Origin: {ORIGIN}", bearer(self.tokens.shell))
        self.case.assertEqual(2403, self.clients.call(other, "session.resume", resumed)["error"]["code"])
        self.refuse(
            {"address": "127.0.0.1", "origin": ORIGIN, "user": "anna"}, 2403, "origin", method="session.resume")  # fmt: skip

    # Actions of administrators.

    def administer(self):
        for method in (
            "session.list", "table.get", "table.check", "admin.sessions", "admin.routes", "admin.refusals", "admin.versions", "admin.watch",
            "admin.unwatch",
        ):  # fmt: skip
            self.call(self.admin, method)
            self.expect(self.admin.fields, method)
        self.call(self.admin, "admin.cluster", 2404)
        self.expect(self.admin.fields, "admin.cluster", "failed", code=2404)
        self.call(self.admin, "admin.session", session=self.session)
        self.expect(self.admin.fields, "admin.session", target=self.session)
        self.call(self.admin, "admin.explain", uri=f"native://home?{PRIVATE}", params={"secret": PRIVATE})
        self.expect(self.admin.fields, "admin.explain", target="native://home")
        route = {"name": "extra", "pattern": "native://extra", "kind": "page"}
        self.call(self.admin, "table.update", operations=[{"op": "add", "route": route}], version="2")
        self.expect(self.admin.fields, "table.update", version="2")
        self.call(self.admin, "table.update", 2409, operations=[], expect=PRIVATE)
        self.expect(self.admin.fields, "table.update", "failed", code=2409)
        self.call(self.admin, "table.update", -32602, operations=[{"op": PRIVATE}])
        self.expect(self.admin.fields, "table.update", "failed", code=-32602)
        self.call(self.admin, "table.rollback")
        self.expect(self.admin.fields, "table.rollback", version="1")

    def reload(self):
        """Replaces each file by a good and by a bad one. The server reads them at the signal or at its next poll, whichever is
        first, and each once."""
        # The trail has the first request of this method already, and counts the others until the server stops.
        first = self.call(self.admin, "admin.versions")["policy"]["hash"]
        self.expect({"user": "root", "address": "127.0.0.1"}, "admin.versions", "suppressed", count=1)
        path = self.file("policy.json", self.rules({"name": "more", "allow": ["rpc.discover"]}))
        self.await_record("policy.reload", "done")
        self.expect(None, "policy.reload", target=path, cause="file", version=...)
        self.call(self.admin, "policy.rollback", to=first)
        self.expect(self.admin.fields, "policy.rollback", target=first, version=first)
        self.file("policy.json", b"{" + PRIVATE.encode())
        self.await_record("policy.reload", "failed")
        self.expect(None, "policy.reload", "failed", target=path, cause="file", version=first)
        document = json.loads(TABLE.read_text()) | {"version": "3"}
        path = self.file("table.json", json.dumps(document).encode())
        self.await_record("table.reload", "done")
        self.expect(None, "table.reload", target=path, cause="file", version="3")
        self.file("table.json", b"{" + PRIVATE.encode())
        self.await_record("table.reload", "failed")
        self.expect(None, "table.reload", "failed", target=path, cause="file")
        path = self.file("secret", self.tokens.secret + b"\n")
        self.await_record("keys.reload", "done")
        self.expect(None, "keys.reload", target=path, cause="file")
        self.file("secret", b"short")
        self.await_record("keys.reload", "failed")
        self.expect(None, "keys.reload", "failed", target=path, cause="file")

    def await_record(self, action, result):
        deadline = time.monotonic() + 20
        while not any(
            record.get("action") == action and record["result"] == result for record in map(json.loads, self.lines.text().splitlines())
        ):
            self.case.assertLess(time.monotonic(), deadline, f"no record of {action} {result}")
            time.sleep(0.05)

    def invite(self):
        invitation = self.call(self.shell, "session.invite", groups=["shell"], routes=["native://home"])
        self.output.allow(self.shell.recorded, self.output.secret("an invitation", invitation["token"]))
        self.expect(self.shell.fields, "session.invite", groups=["shell"])
        self.guest, _ = self.open(None, join={"session": self.session, "token": invitation["token"]})
        self.guest.fields |= {"user": "anna", "guest": True}
        self.call(self.guest, "session.invite", 2403)
        self.refuse(self.guest.fields, 2403, "invitation", method="session.invite")
        self.call(self.guest, "router.open", 2403, uri="native://cart")
        self.refuse(self.guest.fields, 2403, "invitation", method="router.open", target="native://cart")
        self.call(self.guest, "navigation.selectTab", 2403, index=0)
        self.refuse(self.guest.fields, 2403, "invitation", method="navigation.selectTab")

    def push(self):
        params = {"topic": "app.note", "data": {"secret": PRIVATE}}
        for to, target in [({"user": "anna"}, "user anna"), ({"all": True}, "all"), ({"session": self.session}, self.session)]:
            result = self.call(self.admin, "session.push", to=to, method="event", params=params)
            self.expect(
                self.admin.fields, "session.push", target=target, method="event",
                sessions=result["delivered"] + result["waiting"] + result["failed"],
            )  # fmt: skip
        self.call(self.shell, "session.push", 2403, to={"all": True}, method="event", params=params)
        self.refuse(self.shell.fields, 2403, "default", method="session.push")

    def remove(self):
        guest, shell = self.guest.fields["client"], self.shell.fields["client"]
        self.call(self.admin, "client.disconnect", session=self.session, client=guest)
        self.expect(self.admin.fields, "client.disconnect", target=f"{self.session}/{guest}", clients=[guest], clientCount=1)
        self.call(self.admin, "session.end", 2404, session="s-nowhere")
        self.expect(self.admin.fields, "session.end", "failed", target="s-nowhere", code=2404)
        self.call(self.admin, "session.end", session=self.session)
        self.expect(self.admin.fields, "session.end", target=self.session, clients=[shell], clientCount=1)


class AuditTrail(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        with contextlib.ExitStack() as stack:
            cls.enterContext = stack.enter_context
            case = unittest.TestCase()
            case.enterContext = stack.enter_context
            cls.scenario = Scenario(case)
            cls.lines = cls.scenario.run()

    def records(self):
        return [line for line in self.lines if line.get("event") == "audit"]

    def test_each_action_and_each_refusal_has_one_record(self):
        ignored = {"time", "level", "message", "event", "reason"}
        found = [{name: value for name, value in record.items() if name not in ignored} for record in self.records()]
        missing = []
        for expected in self.scenario.expected:
            match = next((record for record in found if self.matches(record, expected)), None)
            if match:
                found.remove(match)
            else:
                missing.append(expected)
        self.assertEqual(([], []), (missing, found))

    @staticmethod
    def matches(record, expected):
        return record.keys() == expected.keys() and all(value in (..., record[name]) for name, value in expected.items())

    def test_records_are_notices_and_refusals_have_a_reason(self):
        for record in self.records():
            self.assertEqual(("notice", "audit"), (record["level"], record["message"]))
            self.assertEqual(record["result"] == "refused", "reason" in record)

    def test_each_line_about_a_client_has_its_user_and_address(self):
        about = [line for line in self.lines if "client" in line]
        self.assertLessEqual({"client joined", "client left", "call", "audit"}, {line["message"] for line in about})
        for line in about:
            self.assertLessEqual({"client", "session", "address", "user"}, line.keys())
            admin = self.scenario.admin.fields
            self.assertEqual(admin["origin"] if line["client"] == admin["client"] else None, line.get("origin"), line)
        for message in ("request rejected", "connection rejected", "token rejected"):
            rejected = [line for line in self.lines if line["message"] == message]
            self.assertTrue(any("origin" in line for line in rejected), message)
            for line in rejected:
                self.assertIn("address", line)

    def test_each_field_has_one_json_type(self):
        types = {}
        for line in self.lines:
            for name, value in line.items():
                types.setdefault(name, set()).add(type(value).__name__)
        self.assertEqual({}, {name: found for name, found in types.items() if len(found) > 1})
        self.assertEqual(
            ({"int"}, {"int"}, {"bool"}, {"list"}, {"list"}, {"int"}),
            tuple(types[name] for name in ("code", "sessions", "guest", "clients", "groups", "clientCount")),
        )

    def test_no_secret_is_in_any_line(self):
        leaks = [leak for leak in self.scenario.output.leaks() if leak.startswith("the log: ")]
        self.assertEqual([], leaks[:20])


class LimitedRecords(unittest.TestCase):
    def test_all_refusals_and_reads_are_recorded_or_counted(self):
        with tempfile.TemporaryDirectory() as folder:
            policy = pathlib.Path(folder) / "policy.json"
            policy.write_text(json.dumps({"rules": [{"name": "all", "allow": ["session.list", "admin.watch"]}]}))
            with Server(
                "serve", "--port", "0", "--policy", str(policy), "--log-format", "json",
            ) as server, Lines(server.process.stderr) as lines:  # fmt: skip
                clients = Clients(CapturedOutput(), server.port)
                with clients.stack:
                    client = clients.client("a client", subprotocol=None)
                    for _ in range(20):
                        self.assertIn("result", clients.call(client, "session.list"))
                        self.assertIn("result", clients.call(client, "admin.watch"))
                    for _ in range(50):
                        self.assertEqual(2403, clients.call(client, "events.subscribe", {"topics": ["x"]})["error"]["code"])
                server.process.send_signal(signal.SIGTERM)
                server.process.wait(timeout=30)
        records = [json.loads(line) for line in lines.text().splitlines()]

        def recorded(**fields):
            """The number of actions with these fields: one for each record, and those that a record counts."""
            found = [record for record in records if fields.items() <= record.items()]
            counts = [record["count"] for record in found if record["result"] == "suppressed"]
            return len(found) - len(counts), sum(counts)

        refusals, suppressed = recorded(action="refuse", method="events.subscribe", rule="default", address="127.0.0.1")
        self.assertEqual(50, refusals + suppressed)
        self.assertGreater(suppressed, 0)
        self.assertEqual((1, 19), recorded(action="session.list", address="127.0.0.1"))
        self.assertEqual((20, 0), recorded(action="admin.watch"))


if __name__ == "__main__":
    unittest.main()
