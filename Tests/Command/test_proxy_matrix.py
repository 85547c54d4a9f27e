"""Every Host with every Origin, token and forged proxy fields: through nginx the verdict is the same as directly.

Tests/WaySocketsTests/Access/AccessMatrixTests.swift has the same rows without a proxy."""

import itertools
import math
import pathlib
import re
import socket
import tempfile
import unittest

from command import Server
from proxy import NAME, Proxy
from test_token import SECRET, claims, with_secret
from rawsocket import Messages

# Lines, and the status with which they are rejected; None if they are allowed. PORT is the bridge's. A third value is the status of
# nginx, which rejects these itself.
HOSTS = [
    ([], 400, 400),
    (["Host: 127.0.0.1:PORT"], None),
    (["Host: localhost:PORT"], None),
    (["Host: LOCALHOST:PORT"], None),
    (["Host: [::1]:PORT"], None),
    (["Host: app.example.org"], None),
    (["Host: App.Example.ORG:PORT"], None),
    (["Host: tls.example.org:8443"], None),
    (["Host: localhost"], 403),
    (["Host: localhost:1"], 403),
    (["Host: localhost.:PORT"], 403),
    (["Host: app.example.org."], 403),
    (["Host: app.example.org:"], 403),
    (["Host: user@app.example.org"], 403),
    (["Host: user:app.example.org@evil.example"], 403),
    (["Host: sub.app.example.org"], 403),
    (["Host: app.example.org.evil.example"], 403),
    (["Host: evilapp.example.org"], 403),
    (["Host: tls.example.org"], 403),
    (["Host: 127.1:PORT"], 403),
    (["Host: 0x7f.1:PORT"], 403),
    (["Host: 2130706433:PORT"], 403),
    (["Host: 0177.0.0.1:PORT"], 403),
    (["Host: 127.0.0.2:PORT"], 403),
    (["Host: [0:0:0:0:0:0:0:1]:PORT"], 403),
    (["Host: [::ffff:127.0.0.1]:PORT"], 403),
    (["Host: null"], 403),
    (["Host: app.example.org/evil"], 403, 400),
    (["Host: app..example.org"], 403, 400),
    (["Host: "], 403, 400),
    (["Host: app.example.org", "Host: app.example.org"], 400, 400),
    (["Host: app.example.org", "Host: evil.example"], 400, 400),
]
ORIGINS = [
    ([], None),
    (["Origin: http://127.0.0.1:PORT"], None),
    (["Origin: http://[::1]:PORT"], None),
    (["Origin: HTTP://LocalHost:PORT"], None),
    (["Origin: https://app.example.org"], None),
    (["Origin: https://tls.example.org:8443"], None),
    (["Origin: https://page.example.com"], None),
    (["Origin: https://page.example.com:443"], None),
    (["Origin: http://dev.example.com:4321"], None),
    (["Origin: https://one.example.net"], None),
    (["Origin: null"], 403),
    (["Origin: "], 403),
    (["Origin: http://evil.example"], 403),
    (["Origin: http://page.example.com"], 403),
    (["Origin: https://page.example.com:8443"], 403),
    (["Origin: https://page.example.com."], 403),
    (["Origin: https://user@page.example.com"], 403),
    (["Origin: https://sub.page.example.com"], 403),
    (["Origin: https://page.example.com.evil.example"], 403),
    (["Origin: https://evilpage.example.com"], 403),
    (["Origin: https://page.example.com/"], 403),
    (["Origin: https://example.net"], 403),
    (["Origin: https://two.one.example.net"], 403),
    (["Origin: http://127.1:PORT"], 403),
    (["Origin: http://2130706433:PORT"], 403),
    (["Origin: http://0x7f000001:PORT"], 403),
    (["Origin: http://[::ffff:127.0.0.1]:PORT"], 403),
    (["Origin: https://app.example.org", "Origin: https://app.example.org"], 400),
    (["Origin: https://page.example.com", "Origin: null"], 400),
]
# For POST /rpc. The tokens that replace GOOD and BAD are signed, BAD with another secret.
TOKENS = [
    ([], 401),
    (["Authorization: Bearer GOOD"], None),
    (["Authorization: Bearer BAD"], 401),
]
# For a handshake, which accepts any token; session.open validates it.
PROTOCOLS = [
    (["Sec-WebSocket-Protocol: waybridge.v1, bearer.GOOD"], None),
    (["Sec-WebSocket-Protocol: bearer.BAD, waybridge.v1"], None),
    (["Sec-WebSocket-Protocol: waybridge.v1, bearer.GOOD", "Authorization: Bearer GOOD"], 400),
]
# Proxy fields of a client, which have no effect: that it is a program of the server's machine that requests an allowed
# name, that it is another client, and fields that cannot be parsed.
FORGED = [
    [],
    [
        "Forwarded: for=127.0.0.1;host=app.example.org;proto=https", "X-Forwarded-For: 127.0.0.1", "X-Forwarded-Proto: https",
        "X-Forwarded-Host: app.example.org", "X-Forwarded-Port: PORT", "X-Real-IP: 127.0.0.1", "Via: 1.1 app.example.org",
    ],
    [
        "Forwarded: for=192.0.2.1;host=evil.example", "X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: 192.0.2.2, 127.0.0.1",
        "X-Forwarded-Host: evil.example", "X-Forwarded-Proto: nonsense", "X_Forwarded_For: 192.0.2.3", "Via: 1.1 evil.example",
    ],
    ["Forwarded: ;;", "X-Forwarded-For: nonsense", "X-Forwarded-Host: a b", "X-Real-IP: ,", "Via: ;;"],
]  # fmt: skip
# Targets in absolute form with Host, directly and through nginx, which forwards only the path and the field Host. A
# page can send none of them.
TARGETS = [
    ("http://app.example.org", "app.example.org", 200, 200),
    ("http://app.example.org", "evil.example", 200, 403),
    ("http://APP.example.org:PORT", "evil.example", 200, 403),
    ("http://evil.example", "app.example.org", 403, 200),
    ("http://evil.example", "evil.example", 403, 403),
    ("http://app.example.org.", "app.example.org", 403, 200),
    ("http://user@app.example.org", "app.example.org", 403, 400),
    ("https://app.example.org", "app.example.org", 400, 200),
]
# For /metrics, which programs of the server's machine can read without a token.
READERS = [
    ([], 200, 403),
    (["Authorization: Bearer GOOD"], 200, 200),
    (["Authorization: Bearer BAD"], 200, 401),
]


class Line:
    """Sends requests one after another, over one connection as long as it is open."""

    def __init__(self, connect):
        self._connect = connect
        self._connected = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._connected:
            self._connected.close()
            self._connected = None

    def request(self, request):
        """Sends a request; returns the status and the body of the response."""
        if not self._connected:
            self._connected = self._connect()
        self._connected.sendall(request)
        response = b""
        while b"\r\n\r\n" not in response:
            response += self._received()
        head, _, body = response.partition(b"\r\n\r\n")
        if length := re.search(rb"\r\nContent-Length: (\d+)", head):
            while len(body) < int(length[1]):
                body += self._received()
        if b"\r\nConnection: close" in head:
            self.__exit__()
        return int(head[9:12]), body

    def _received(self):
        data = self._connected.recv(65_536)
        if not data:
            raise ConnectionResetError("the connection ended within a response")
        return data

    def refusal(self):
        """The code of the error in the response to session.open after an upgrade, None if there is none; the
        connection is closed."""
        with Messages(self._connected, self._connected.makefile("rb"), is_client=True) as client:
            params = {"protocol": ["1.0"], "client": {"name": "test", "version": "1"}}
            client.send({"jsonrpc": "2.0", "id": 1, "method": "session.open", "params": params})
            response = client.receive()
        self._connected = None
        return response["error"]["code"] if "error" in response else None


class Matrix(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        secret = pathlib.Path(folder.name, "secret")
        secret.write_bytes(SECRET)
        secret.chmod(0o600)
        arguments = [
            "--prefix", "/app", "--allow-host", NAME, "--allow-host", "tls.example.org:8443", "--allow-origin",
            "https://page.example.com", "--allow-origin", "http://dev.example.com:*", "--allow-origin",
            "https://*.example.net", "--trusted-proxy", "127.0.0.1", "--token-secret-file", str(secret),
            # The log is not read here, and contains every rejection.
            "--log-level", "error",
        ]  # fmt: skip
        cls.server = cls.enterClassContext(Server("serve", "--port", "0", *arguments))
        cls.proxy = cls.enterClassContext(Proxy("nginx.conf", cls.server.port))
        cls.words = {
            "PORT": str(cls.server.port),
            "GOOD": with_secret(claims(exp=4_000_000_000)),
            "BAD": with_secret(claims(exp=4_000_000_000), secret=SECRET[::-1]),
        }

    def text(self, lines):
        text = "".join(line + "\r\n" for line in lines)
        for word, value in self.words.items():
            text = text.replace(word, value)
        return text

    def filled(self, cells):
        """Each cell with its lines as one text."""
        return [(self.text(cell[0]), *cell[1:]) for cell in cells]

    def lines(self):
        """One directly to the bridge, and one through nginx."""
        place = ("127.0.0.1", self.server.port)
        straight = self.enterContext(Line(lambda: socket.create_connection(place, timeout=20)))
        return straight, self.enterContext(Line(self.proxy.connect))

    def each(self, request, tokens, passing, body=""):
        """Sends the request with every combination of fields, directly, and through nginx with forged proxy fields: the next
        of them each time, so that each of the four meets each of the three tokens. Yields the request and the line of each
        response with the status `passing`."""
        straight, proxied = self.lines()
        hosts, origins, tokens = self.filled(HOSTS), self.filled(ORIGINS), self.filled(tokens)
        forged = itertools.cycle(map(self.text, FORGED))
        accepted = 0
        for cells in itertools.product(hosts, origins, tokens):
            expected = next((cell[1] for cell in cells if cell[1]), passing)
            own = next((cell[2] for cell in cells if len(cell) == 3), None)
            lines = self.text(request) + "".join(cell[0] for cell in cells)
            for line, headers in ((straight, ""), (proxied, next(forged))):
                status, text = line.request((lines + headers + "\r\n" + body).encode())
                by_nginx = own if line is proxied else None
                self.assertEqual(by_nginx or expected, status, lines + headers)
                self.assertEqual(by_nginx is not None, b"<center>nginx/" in text, lines + headers)
                if status == passing:
                    accepted += 1
                    yield lines + headers, line
        good = [sum(cell[1] is None for cell in cells) for cells in (hosts, origins, tokens)]
        self.assertEqual(2 * math.prod(good), accepted)

    def test_http_calls_of_back_ends(self):
        body = '{"jsonrpc":"2.0","id":1,"method":"$/ping"}'
        request = ["POST /app/rpc HTTP/1.1", "Content-Type: application/json", f"Content-Length: {len(body)}"]
        for _ in self.each(request, TOKENS, 200, body):
            pass

    def test_websocket_handshakes_through_proxy(self):
        request = [
            "GET /app/bridge HTTP/1.1", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        ]  # fmt: skip
        for lines, line in self.each(request, PROTOCOLS, 101):
            self.assertEqual(None if self.words["GOOD"] in lines else 2401, line.refusal(), lines)

    def test_request_targets_in_absolute_form(self):
        for target, host, *expected in TARGETS:
            request = self.text([f"GET {target}/app/metrics HTTP/1.1", f"Host: {host}", *TOKENS[1][0]])
            found = [line.request((request + "\r\n").encode())[0] for line in self.lines()]
            self.assertEqual(expected, found, request)

    def test_metrics_requests_through_proxy(self):
        straight, proxied = self.lines()
        for token, *expected in READERS:
            request = self.text(["GET /app/metrics HTTP/1.1", "Host: app.example.org", *token])
            self.assertEqual(expected[0], straight.request((request + "\r\n").encode())[0], request)
            for headers in map(self.text, FORGED):
                self.assertEqual(expected[1], proxied.request((request + headers + "\r\n").encode())[0], request + headers)


if __name__ == "__main__":
    unittest.main()
