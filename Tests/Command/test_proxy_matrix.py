"""Every Host with every Origin, token and what a client says of proxies: through nginx the verdict is the same.

Tests/WaySocketsTests/AccessMatrixTests.swift has the same rows, straight."""

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

# Lines, and the status that they are refused with; None lets them pass. PORT is the bridge's. A third value is that of
# nginx, which refuses these by itself.
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
# Of POST /rpc. The tokens that stand for GOOD and BAD are signed, BAD with another secret.
TOKENS = [
    ([], 401),
    (["Authorization: Bearer GOOD"], None),
    (["Authorization: Bearer BAD"], 401),
]
# Of a handshake, which takes any token; whether it is one, session.open says.
PROTOCOLS = [
    (["Sec-WebSocket-Protocol: waybridge.v1, bearer.GOOD"], None),
    (["Sec-WebSocket-Protocol: bearer.BAD, waybridge.v1"], None),
    (["Sec-WebSocket-Protocol: waybridge.v1, bearer.GOOD", "Authorization: Bearer GOOD"], 400),
]
# What a client says of proxies, which changes nothing: that it is one of the server's machine that asks for a good
# name, that it is somebody else, and what cannot be read.
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
# Targets in absolute form with Host, straight and through nginx, which passes on the path and the field Host alone. A
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
# Of /metrics, which tells programs of the server's machine without one.
READERS = [
    ([], 200, 403),
    (["Authorization: Bearer GOOD"], 200, 200),
    (["Authorization: Bearer BAD"], 200, 401),
]


class Line:
    """Requests one after another, over one connection as long as it lasts."""

    def __init__(self, connect):
        self._connect = connect
        self._connected = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._connected:
            self._connected.close()
            self._connected = None

    def ask(self, request):
        """The status and the body of the answer."""
        if not self._connected:
            self._connected = self._connect()
        self._connected.sendall(request)
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += self._received()
        head, _, body = answer.partition(b"\r\n\r\n")
        if length := re.search(rb"\r\nContent-Length: (\d+)", head):
            while len(body) < int(length[1]):
                body += self._received()
        if b"\r\nConnection: close" in head:
            self.__exit__()
        return int(head[9:12]), body

    def _received(self):
        data = self._connected.recv(65_536)
        if not data:
            raise ConnectionResetError("the connection ended within an answer")
        return data

    def refusal(self):
        """The code of the error that session.open is answered with after an upgrade, None where it is not; the
        connection ends."""
        with Messages(self._connected, self._connected.makefile("rb"), is_client=True) as client:
            params = {"protocol": ["1.0"], "client": {"name": "test", "version": "1"}}
            client.send({"jsonrpc": "2.0", "id": 1, "method": "session.open", "params": params})
            answer = client.receive()
        self._connected = None
        return answer["error"]["code"] if "error" in answer else None


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
            # Nobody reads the log here, and whatever is refused is in it.
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
        """One straight to the bridge, and one through nginx."""
        place = ("127.0.0.1", self.server.port)
        straight = self.enterContext(Line(lambda: socket.create_connection(place, timeout=20)))
        return straight, self.enterContext(Line(self.proxy.connect))

    def each(self, request, tokens, passing, body=""):
        """Asks in every way, straight, and through nginx with what a client says of proxies: the next has its turn each
        time, which brings each of the four to each of the three tokens. Gives what was asked and the line of each answer
        with the status `passing`."""
        straight, proxied = self.lines()
        hosts, origins, tokens = self.filled(HOSTS), self.filled(ORIGINS), self.filled(tokens)
        sayings = itertools.cycle(map(self.text, FORGED))
        let_in = 0
        for cells in itertools.product(hosts, origins, tokens):
            expected = next((cell[1] for cell in cells if cell[1]), passing)
            own = next((cell[2] for cell in cells if len(cell) == 3), None)
            lines = self.text(request) + "".join(cell[0] for cell in cells)
            for line, said in ((straight, ""), (proxied, next(sayings))):
                status, text = line.ask((lines + said + "\r\n" + body).encode())
                by_nginx = own if line is proxied else None
                self.assertEqual(by_nginx or expected, status, lines + said)
                self.assertEqual(by_nginx is not None, b"<center>nginx/" in text, lines + said)
                if status == passing:
                    let_in += 1
                    yield lines + said, line
        good = [sum(cell[1] is None for cell in cells) for cells in (hosts, origins, tokens)]
        self.assertEqual(2 * math.prod(good), let_in)

    def test_calls_of_back_ends(self):
        body = '{"jsonrpc":"2.0","id":1,"method":"$/ping"}'
        request = ["POST /app/rpc HTTP/1.1", "Content-Type: application/json", f"Content-Length: {len(body)}"]
        for _ in self.each(request, TOKENS, 200, body):
            pass

    def test_handshakes(self):
        request = [
            "GET /app/bridge HTTP/1.1", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        ]  # fmt: skip
        for lines, line in self.each(request, PROTOCOLS, 101):
            self.assertEqual(None if self.words["GOOD"] in lines else 2401, line.refusal(), lines)

    def test_targets_in_absolute_form(self):
        for target, host, *expected in TARGETS:
            request = self.text([f"GET {target}/app/metrics HTTP/1.1", f"Host: {host}", *TOKENS[1][0]])
            found = [line.ask((request + "\r\n").encode())[0] for line in self.lines()]
            self.assertEqual(expected, found, request)

    def test_metrics(self):
        straight, proxied = self.lines()
        for token, *expected in READERS:
            request = self.text(["GET /app/metrics HTTP/1.1", "Host: app.example.org", *token])
            self.assertEqual(expected[0], straight.ask((request + "\r\n").encode())[0], request)
            for said in map(self.text, FORGED):
                self.assertEqual(expected[1], proxied.ask((request + said + "\r\n").encode())[0], request + said)


if __name__ == "__main__":
    unittest.main()
