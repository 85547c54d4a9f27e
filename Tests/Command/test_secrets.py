"""No token, secret or joinToken is in the output of a run, except in the one response that contains it."""

import base64
import copy
import json
import secrets
import time
import unittest

from captured_output import CapturedOutput
from leak_case import WAYS, LeakCase
from recorded_clients import HELLO, Clients

# Lines of handshakes that are rejected, TOKEN in them, and the status.
HANDSHAKES = [
    (["Sec-WebSocket-Protocol: bearer.TOKEN"], 400),
    (["Sec-WebSocket-Protocol: waybridge.v9, bearer.TOKEN"], 400),
    (["Sec-WebSocket-Protocol: waybridge.v1, bearer.TOKEN, bearer.TOKEN"], 400),
    (["Sec-WebSocket-Protocol: waybridge.v1, bearer.TOKEN", "Authorization: Bearer TOKEN"], 400),
    (["Sec-WebSocket-Protocol: waybridge.v1, bearer.TOKEN;"], 400),
    (["Authorization: Bearer TOKEN", "Authorization: Bearer TOKEN"], 400),
    (["Authorization: Bearer TOKEN TOKEN"], 400),
    (["Authorization: Bearer TOKEN, TOKEN"], 400),
    (["Authorization Bearer TOKEN"], 400),
    (["Authorization: Bearer", " TOKEN"], 400),
    (["Authorization: Bearer TOKEN\0"], 400),
    (["Bearer TOKEN: Authorization"], 400),
    (["Authorization: Bearer TOKEN", "Origin: https://evil.example"], 403),
    (["Authorization: Bearer TOKEN", "Origin: https://TOKEN@evil.example"], 403),
    (["Authorization: Bearer TOKEN", "Origin: https://evil.example/?TOKEN"], 403),
    (["Authorization: Bearer TOKEN", "Cookie: token=TOKEN", "Referer: http://a.example/?TOKEN", "Host: evil.example"], 403),
    (["Authorization: Bearer TOKEN", "Via: 1.1 evil.example"], 403),
    (["Authorization: Bearer TOKEN", "X: " + "y" * 33_000], 431),
    (["Authorization: Bearer TOKEN", "Content-Length: TOKEN"], 400),
    (["Authorization: Bearer TOKEN", "Transfer-Encoding: TOKEN"], 501),
    (["Authorization: Bearer TOKEN", "Transfer-Encoding: chunked", "Content-Length: 1"], 400),
    (["Authorization: Bearer TOKEN", "Transfer-Encoding: chunked"], 413),
]
# Request lines with a token at a place where the server ignores it, and the status.
LINES = [
    ("GET /nowhere?token=TOKEN HTTP/1.1", 404),
    ("GET /bridge?access_token=TOKEN HTTP/9.9", 505),
    ("GET /bridge#token=TOKEN HTTP/1.1", 400),
    ("GET bridge?token=TOKEN HTTP/1.1", 400),
    ("GET http://TOKEN@127.0.0.1/bridge HTTP/1.1", 403),
    ("GET /bridge?token=TOKEN", 400),
    ("POST /nowhere?token=TOKEN HTTP/1.1", 404),
]
# Messages that are rejected, TOKEN in them: before a session is open, and in one.
BEFORE = [
    ("session.open", {"token": ["TOKEN"]}),
    ("session.open", {"token": {"TOKEN": "TOKEN"}}),
    ("session.open", {"token": "TOKEN", "client": "TOKEN"}),
    ("session.open", {"token": "TOKEN", "page": "p1"}),
    ("session.open", {"token": "TOKEN", "hosts": [{"scheme": "TOKEN"}]}),
    ("session.open", {"join": "TOKEN"}),
    ("session.open", {"join": {"session": ["TOKEN"], "token": "TOKEN"}}),
    ("session.open", {"join": {"session": "s-1", "token": ["TOKEN"]}}),
    ("session.open", ["TOKEN"]),
    ("session.renew", {"token": "TOKEN"}),
    ("router.routes", {"token": "TOKEN"}),
]
WITHIN = [
    ("session.open", {"token": "TOKEN"}),
    ("session.renew", {"token": ["TOKEN"]}),
    ("session.renew", {"tokens": "TOKEN"}),
    ("session.renew", ["TOKEN"]),
    ("session.invite", {"uses": "TOKEN"}),
    ("session.invite", {"token": "TOKEN", "page": "nowhere"}),
    ("router.explain", {"uri": "native://home", "token": "TOKEN", "params": "TOKEN"}),
    ("navigation.back", {"token": "TOKEN", "count": "TOKEN"}),
    ("page.call", {"page": "nowhere", "method": "x", "params": {"token": "TOKEN"}}),
    ("host.register", {"hosts": [{"scheme": "action", "kind": "TOKEN"}]}),
    ("events.subscribe", {"topics": ["TOKEN TOKEN"]}),
    ("table.update", {"token": "TOKEN"}),
]
TEXTS = [
    '{"jsonrpc":"2.0","id":1,"method":"session.renew","params":{"token":"TOKEN"',
    '{"jsonrpc":"2.0","id":1,"method":"session.renew","params":{"token":TOKEN}}',
    '{"jsonrpc":"2.0","id":1,"id":2,"method":"session.renew","params":{"token":"TOKEN"}}',
    '{"jsonrpc":"2.0","id":1,"method":"session.renew","params":"TOKEN","result":"TOKEN"}',
    '[{"jsonrpc":"2.0","id":1,"method":"session.open","params":{"token":"TOKEN"}}]',
    '{"jsonrpc":"2.0","id":1,"method":"session.renew","params":{"token":"' + "[" * 200 + 'TOKEN"}}',
]


def with_token(value, token):
    return json.loads(json.dumps(value).replace("TOKEN", token))


class ServerLeaks(LeakCase):
    def test_text_log_contains_no_secrets(self):
        self.check_requests("text", waits_for_log=True)
        for line in (
            " warning token rejected address=", " warning request rejected address=",
            " warning connection rejected address=127.0.0.1 code=4001 ", " notice audit action=refuse ", " notice audit action=session.push ",
            " info client joined ", " info client left ", " debug call ", "method=session.renew", "method=session.invite",
            "code=2401", "code=2403", "status=403", "status=415", "status=431", "none of the server's keys made the signature",
            "the token has expired", " info stopped",
        ):  # fmt: skip
            self.assertIn(line, self.log)

    def test_json_log_contains_no_secrets(self):
        self.check_requests("json", waits_for_log=False)
        found = [json.loads(line) for line in self.log.splitlines()]
        self.assertLessEqual(
            {"request rejected", "client joined", "client left", "call", "stopped"},
            {line["message"] for line in found},
        )

    def check_requests(self, form, *, waits_for_log):
        self.waits_for_log = waits_for_log
        with self.serving("--log-format", form) as (server, self.lines):
            self.clients = Clients(self.output, server.port)
            with self.clients.stack:
                self.refuse_requests(server.port)
                self.refuse_tokens()
                self.refuse_messages()
                self.share_a_session()
                self.post()
                self.read(server.port)
        self.assert_no_leak()
        self.assert_captured("the metrics", "waybridge_refused_tokens_total", 'method="session.renew"')
        self.assert_captured("the watcher", "session.joined", "session.left", "route.failed", "page.opened", "delivered")
        self.assert_captured("the host", '"user":"anna"', '"user":"root"', "page.open")
        self.assert_captured("another's list", '"user":"anna"', '"groups":["shell"]')

    def await_log(self, line, action):
        """Repeats a rejected action until the log has the line, because it logs at most ten rejections a second. Runs it once
        without `line`, and if `waits_for_log` is false."""
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            before = self.lines.count(line)
            result = action()
            if not line or not self.waits_for_log or self.lines.grows(line, before, 0.1):
                return result
        self.fail(f"the log never had a line with {line!r} for {str(result)[:300]}")

    def refuse_requests(self, port):
        host, token = f"Host: 127.0.0.1:{port}", self.tokens.shell
        upgrade = [
            "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        ]  # fmt: skip
        rows = [(["GET /bridge HTTP/1.1", *upgrade, *lines], status) for lines, status in HANDSHAKES]
        for lines, status in rows + [([line], status) for line, status in LINES]:
            hosts = [] if any(line.startswith("Host:") for line in lines) else [host]
            lines = with_token([*lines[:1], *hosts, *lines[1:]], token)
            # A missing file is not an error here.
            line = "request rejected" if status not in (404, 405) else ""
            found, _ = self.await_log(line, lambda lines=lines: self.clients.http_request(*lines))
            self.assertEqual(status, found, str(lines)[:300])

    def refuse_tokens(self):
        for token in self.tokens.bad:
            for name, way in WAYS:
                _, response = self.await_log("token rejected", lambda: self.clients.open(f"refused by {name}", way, token))
                self.assertEqual(2401, response["error"]["code"], response)
        for token in self.tokens.odd:
            _, response = self.await_log("token rejected", lambda: self.clients.open("refused", WAYS[0][1], token))
            self.assertEqual(2401, response["error"]["code"], response)
            for _, way in WAYS[1:]:
                with self.assertRaisesRegex(ConnectionRefusedError, " 4(00|31) "):
                    self.clients.open("refused", way, token)
        with self.await_log("connection rejected", lambda: self.plain(self.tokens.bad[0])):
            pass

    def plain(self, token):
        client = self.clients.client("plain", f"Authorization: Bearer {token}", subprotocol=None)
        self.assertEqual(4001, self.clients.call(client, "$/ping"))
        return client

    def refuse_messages(self):
        token = self.tokens.admin
        for method, params in BEFORE:
            client = self.clients.client("before a session")
            response = self.clients.call(client, method, with_token(params, token))
            self.assertIn("error", response, (method, params))
        client, _ = self.clients.open("within a session", WAYS[2][1], self.tokens.shell)
        for method, params in WITHIN:
            response = self.clients.call(client, method, with_token(params, token))
            self.assertIn("error", response, (method, params))
        for each in (client, self.clients.client("before a session")):
            for text in TEXTS:
                each.send_text(text.replace("TOKEN", token))
                response = each.receive()
                self.assertIn("error", response[0] if isinstance(response, list) else response, text)
        client = self.clients.client("many tokens")
        for _ in range(9):
            self.assertIn("error", self.clients.call(client, "session.open", HELLO | {"token": self.tokens.bad[0]}))
        client.send({"jsonrpc": "2.0", "id": 1, "method": "session.open", "params": HELLO | {"token": self.tokens.bad[0]}})
        self.assertIn("error", client.receive())
        self.assertEqual(4029, client.receive())

    def share_a_session(self):
        clients, tokens = self.clients, self.tokens
        watcher, response = clients.open("the watcher", WAYS[0][1], tokens.admin)
        session, key = response["result"]["session"], response["result"]["joinToken"]
        clients.call(watcher, "events.subscribe", {"topics": ["*"]})
        join = {"session": session, "token": key}
        hosts = [{"scheme": "native", "kind": "page"}, {"scheme": "action", "kind": "task"}]
        host, _ = clients.open("the host", WAYS[0][1], tokens.shell, join=join, hosts=hosts)
        joined, _ = clients.open("a member", lambda _: ((), "waybridge.v1", {}), None, join=join)
        stranger, response = clients.open("a stranger", WAYS[2][1], tokens.shell)
        self.refuse_joins(join, response["result"]["joinToken"], response["result"]["token"])

        invitation = clients.call(watcher, "session.invite", {"groups": ["staff"], "routes": ["native://address/list"]})["result"]
        self.output.allow(watcher.recorded, self.output.secret("an invitation's token", invitation["token"]))
        invited = {"session": session, "token": invitation["token"]}
        guest, response = clients.open("a guest", lambda _: ((), "waybridge.v1", {}), None, join=invited)
        self.assertTrue(response["result"]["guest"])
        _, response = clients.open("a second guest", lambda _: ((), "waybridge.v1", {}), None, join=invited)
        self.assertIn("error", response)

        self.assertIn("result", clients.call(host, "session.renew", {"token": tokens.newer}))
        # Ten rejected ones would close a connection.
        for place, token in enumerate((*tokens.bad, *tokens.odd)):
            self.assertIn("error", clients.call((host, joined)[place % 2], "session.renew", {"token": token}))
        self.assertIn("error", clients.call(host, "session.renew", {"token": tokens.admin}))

        watcher.send({"jsonrpc": "2.0", "id": "opened", "method": "router.open", "params": {"uri": "native://address/list"}})
        page = clients.serve(host, "page.open")["page"]["id"]
        for client in (watcher, host, joined, guest, stranger):
            self.call_all_methods(client, page)
        self.assertIn("result", clients.call(host, "router.invoke", {"uri": "action://toast"}))
        self.assertIn("result", clients.call(host, "navigation.finish", {"page": page}))
        lister, _ = clients.open("another's list", WAYS[2][1], tokens.admin)
        self.assertIn("result", clients.call(lister, "session.list"))
        for method, params in [("event", {"topic": "app.note", "data": 1}), ("router.invoke", {"uri": "action://echo"})]:
            pushed = {"to": {"session": session}, "method": method, "params": params}
            self.assertIn("result", clients.call(watcher, "session.push", pushed))
        for client in (guest, joined, host):
            self.assertIn("result", clients.call(client, "session.close"))
        clients.call(watcher, "$/ping")

    def refuse_joins(self, join, *others):
        wrong = self.output.secret("a wrong join token", secrets.token_urlsafe(16))
        known = [{**join, "token": token} for token in (wrong, self.tokens.admin, *others)]
        unknown = [{**join, "session": "s-nowhere"}, {"session": join["token"], "token": join["token"]}]
        for each in known + unknown:
            _, response = self.await_log(
                "token rejected", lambda each=each: self.clients.open("a wrong join", lambda _: ((), "waybridge.v1", {}), None, join=each)
            )
            self.assertEqual(2401, response["error"]["code"])
        for token in self.tokens.bad:
            _, response = self.clients.open("a bad token to join", WAYS[0][1], token, join=join)
            self.assertEqual(2401, response["error"]["code"])

    def call_all_methods(self, client, page):
        for method, params in [
            ("router.routes", None), ("navigation.stack", None), ("rpc.discover", None), ("session.list", None), ("table.get", None),
            ("navigation.contains", {"uri": "native://address/list"}), ("router.canOpen", {"uri": "native://home"}),
            ("router.explain", {"uri": "native://address/list"}), ("router.explain", {"uri": "native://upgrade"}),
            ("router.explain", {"uri": "a b"}), ("router.open", {"uri": "nowhere:"}), ("router.open", {"uri": "native://upgrade"}),
            ("router.invoke", {"uri": "action://echo"}), ("router.deliver", {"uri": "nowhere:"}), ("session.invite", {"groups": ["x"]}),
            ("page.call", {"page": page, "method": "m", "params": []}), ("host.register", {"hosts": [{"scheme": "https", "kind": "x"}]}),
        ]:  # fmt: skip
            self.clients.call(client, method, params)

    def post(self):
        ping = '{"jsonrpc":"2.0","id":1,"method":"$/ping"}'
        tokens, post = self.tokens, self.clients.post
        self.assertEqual(401, post(ping)[0])
        for token in (tokens.shell, tokens.admin):
            self.assertEqual(200, post(ping, f"Authorization: Bearer {token}")[0])
            for method, params in [*BEFORE, *WITHIN, ("session.list", None), ("router.routes", None)]:
                call = {"jsonrpc": "2.0", "id": 1, "method": method} | ({"params": with_token(params, token)} if params else {})
                self.assertEqual(200, post(json.dumps(call), f"Authorization: Bearer {token}")[0])
                self.assertEqual(401, post(json.dumps(call))[0])
            for text in TEXTS:
                self.assertEqual(200, post(text.replace("TOKEN", token), f"Authorization: Bearer {token}")[0])
        for token in tokens.bad:
            self.assertEqual(401, self.await_log("token rejected", lambda: post(ping, f"Authorization: Bearer {token}"))[0])
        for token in tokens.odd:
            self.assertEqual(400, self.await_log("request rejected", lambda: post(ping, f"Authorization: Bearer {token}"))[0])
        status, _ = self.await_log("request rejected", lambda: post(ping, "Content-Type: TOKEN", f"Authorization: Bearer {tokens.shell}"))
        self.assertEqual(415, status)

    def read(self, port):
        for token in (None, self.tokens.shell, self.tokens.admin, *self.tokens.bad):
            fields = [f"Host: 127.0.0.1:{port}", *([f"Authorization: Bearer {token}"] if token else [])]
            self.assertEqual(200, self.clients.http_request("GET /metrics HTTP/1.1", *fields, place="the metrics")[0])
            for origin in ("https://evil.example", f"http://127.0.0.1:{port}"):
                self.assertEqual(200, self.clients.http_request("GET /health HTTP/1.1", *fields, f"Origin: {origin}")[0])


class LeakSearch(unittest.TestCase):
    """Checks that the search finds the secrets."""

    def test_search_finds_parts_and_encodings_of_secrets(self):
        output = CapturedOutput()
        key = output.secret("the key", b"0123456789abcdefghij")
        token = output.secret("the token", "Zyxwvutsrqponm")
        for text, found in [
            ("nothing", 0), (f"a {token} b", 1), (f"ab{token[1:13].upper()}", 1), (token[:11] + " " + token[11:], 0), (key.hex()[4:20], 1),
            (base64.b64encode(key).decode()[6:18], 1), (f"0123456789abcdefghij{token}", 2),
        ]:  # fmt: skip
            alone = copy.deepcopy(output)
            alone.add("there", text)
            self.assertEqual(found > 0, bool(list(alone.leaks())), text)
        output.add("its answer", f"a {token} b", token)
        self.assertEqual([], list(output.leaks()))
        for text in ("none", f"{token} {token}", f"{token} {token[2:]}"):
            alone = copy.deepcopy(output)
            alone.add("its answer", text, token)
            self.assertNotEqual([], list(alone.leaks()), text)


if __name__ == "__main__":
    unittest.main()
