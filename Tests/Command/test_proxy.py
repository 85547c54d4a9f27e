"""The bridge behind nginx and haproxy, with TLS, at a port and at a Unix socket."""

import pathlib
import signal
import socket
import tempfile
import unittest

from command import ROOT, Server
from proxy import NAME, Proxy, ask
from rawsocket import WebSocket

ORIGIN = f"https://{NAME}"
# The configuration, the path below which the bridge is served, and whether it is at a Unix socket.
PROXIES = [("nginx.conf", "/app", False), ("haproxy.cfg", "/app", False), ("nginx-unix.conf", "", True)]

# Host headers and the status that they get; nginx and haproxy refuse some themselves.
HOSTS = [
    (NAME, None), (NAME.upper(), None), (f"{NAME}.", 403), ("user@app.example.org", 400), ("sub.app.example.org", 403),
    ("app.example.org.evil.example", 403), ("evilapp.example.org", 403), ("evil.example", 403), ("127.1", 403),
    ("2130706433", 403), ("0x7f.1", 403), ("127.0.0.1", 403), ("[::ffff:127.0.0.1]", 403), ("null", 403),
]  # fmt: skip
ORIGINS = [
    ((), None), ((ORIGIN,), None), ((ORIGIN + ":443",), None), (("https://page.example.com",), None), (("null",), 403),
    ((f"http://{NAME}:81",), 403), (("https://evil.example",), 403), (("https://page.example.com.",), 403),
    (("https://user@page.example.com",), 403), (("https://sub.page.example.com",), 403),
    (("https://page.example.com.evil.example",), 403), (("https://page.example.com:8443",), 403),
    (("http://2130706433",), 403), ((ORIGIN, ORIGIN), 400),
]  # fmt: skip
TOKENS = [
    ((), None), (("Authorization: Bearer a.b-c",), None), (("Sec-WebSocket-Protocol: waybridge.v1, bearer.a.b-c",), None),
    (("Authorization: Bearer a", "Sec-WebSocket-Protocol: waybridge.v1, bearer.a"), 400),
]  # fmt: skip


class Behind(unittest.TestCase):
    """Starts a bridge and a proxy before it."""

    def start(self, configuration, prefix, is_unix, *arguments, trusted=True):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        place = ["--unix", f"{folder.name}/socket"] if is_unix else ["--port", "0"]
        trust = ["--trusted-proxy", "unix" if is_unix else "127.0.0.1"] if trusted else []
        server = self.enterContext(
            Server("serve", *place, *(["--prefix", prefix] if prefix else []), "--allow-host", NAME, *trust, *arguments)
        )
        proxy = self.enterContext(Proxy(configuration, server.unix if is_unix else server.port))
        return server, proxy

    def each(self, *arguments, proxies=PROXIES, **options):
        for configuration, prefix, is_unix in proxies:
            with self.subTest(configuration):
                yield *self.start(configuration, prefix, is_unix, *arguments, **options), prefix, is_unix

    def socket(self, proxy, prefix, *fields, subprotocol=None, host=NAME):
        return WebSocket(
            None, f"{prefix}/bridge", subprotocol, fields=fields, host=host, connected=proxy.connect()
        )


class Serving(Behind):
    def test_a_session_goes_on_through_the_proxy(self):
        for _, proxy, prefix, _ in self.each("--table", str(ROOT / "protocol/routes/demo.json")):
            with self.socket(proxy, prefix, f"Origin: {ORIGIN}", subprotocol="waybridge.v1") as client:
                hello = {"protocol": ["1.0"], "client": {"name": "test", "version": "1"}}
                client.send({"jsonrpc": "2.0", "id": 1, "method": "session.open", "params": hello})
                self.assertEqual("1.0", client.receive()["result"]["protocol"])
                for number in range(2, 50):
                    client.send({"jsonrpc": "2.0", "id": number, "method": "$/ping", "params": {"a": "x" * number * 1000}})
                    self.assertEqual({"jsonrpc": "2.0", "id": number, "result": None}, client.receive())
                client.send(1000)
                self.assertEqual(1000, client.receive())

    def test_files_health_and_nothing_else_below_the_prefix(self):
        for _, proxy, prefix, _ in self.each("--allow-origin", "https://page.example.com"):
            status, fields, body = ask(proxy.connect(), f"{prefix}/bridge/bridge.js")
            self.assertEqual((200, (ROOT / "web/bridge/bridge.js").read_bytes()), (status, body))
            self.assertIn("frame-ancestors 'self' https://page.example.com", fields["content-security-policy"])
            self.assertEqual("nosniff", fields["x-content-type-options"])
            status, fields, _ = ask(proxy.connect(), f"{prefix}/demo")
            self.assertEqual((301, f"{prefix}/demo/"), (status, fields["location"]))
            if prefix:
                status, fields, _ = ask(proxy.connect(), f"{prefix}?a=b")
                self.assertEqual((301, f"{prefix}/?a=b"), (status, fields["location"]))
                for path in ("/health", "/bridge/bridge.js", "/", f"{prefix}x/health"):
                    self.assertEqual(404, ask(proxy.connect(), path)[0], path)
            for origin, shared in [("https://page.example.com", True), (ORIGIN, True), ("https://evil.example", False)]:
                status, fields, body = ask(proxy.connect(), f"{prefix}/health", f"Origin: {origin}", host="any.example")
                self.assertEqual((200, b'{"status":"ok"}\n'), (status, body))
                self.assertEqual(origin if shared else None, fields.get("access-control-allow-origin"))

    def test_metrics_are_for_this_machine_alone(self):
        for server, proxy, prefix, is_unix in self.each():
            self.assertEqual(403, ask(proxy.connect(), f"{prefix}/metrics")[0])
            self.assertEqual(403, ask(proxy.connect(), f"{prefix}/metrics", "X-Forwarded-For: 127.0.0.1")[0])
            if is_unix:
                straight, host = socket.socket(socket.AF_UNIX), "localhost"
                straight.connect(server.unix)
            else:
                straight, host = socket.create_connection(("127.0.0.1", server.port)), f"127.0.0.1:{server.port}"
            self.assertEqual(200, ask(straight, f"{prefix}/metrics", host=host)[0])


class Letting(Behind):
    def test_hosts_origins_and_tokens_are_checked_as_they_came(self):
        # test_proxy_matrix.py has all of it for the first.
        for _, proxy, prefix, _ in self.each("--allow-origin", "https://page.example.com", proxies=PROXIES[1:]):
            for host, refused in HOSTS:
                for origins, wrong in ORIGINS:
                    for token, twice in TOKENS:
                        fields = [*(f"Origin: {origin}" for origin in origins), *token]
                        try:
                            self.socket(proxy, prefix, *fields, host=host).close()
                            status = 101
                        except ConnectionRefusedError as error:
                            status = int(str(error).split()[1])
                        expected = next((code for code in (refused, wrong, twice) if code), 101)
                        # The proxies have words of their own for what is no host.
                        allowed = {400, 403} if expected == refused else {expected}
                        self.assertIn(status, allowed, (host, fields))
            self.assertEqual(426, ask(proxy.connect(), f"{prefix}/bridge")[0])
            self.assertEqual(400, ask(proxy.connect(), f"{prefix}/bridge", host=None)[0])

    def test_what_a_client_says_of_proxies_does_not_count(self):
        for _, proxy, prefix, _ in self.each():
            for field in (
                "X-Forwarded-For: 127.0.0.1", "X-Forwarded-For: nonsense", "Forwarded: for=127.0.0.1", "Forwarded: ;;",
                "X-Forwarded-Host: localhost", "X-Real-IP: 127.0.0.1",
            ):  # fmt: skip
                self.socket(proxy, prefix, field).close()
                self.assertEqual(403, ask(proxy.connect(), f"{prefix}/metrics", field)[0], field)

    def test_a_proxy_that_is_not_trusted_is_refused_and_the_log_names_the_flag(self):
        for server, proxy, prefix, is_unix in self.each(trusted=False):
            for path in ("/bridge/bridge.js", "/health", "/metrics"):
                status, _, body = ask(proxy.connect(), prefix + path, "Authorization: Bearer SECRET")
                self.assertEqual(403, status)
                self.assertEqual(b'the header "x-forwarded-for" shows a proxy, and it is not trusted here\n', body)
            with self.assertRaisesRegex(ConnectionRefusedError, " 403 "):
                self.socket(proxy, prefix, f"Origin: {ORIGIN}")
            _, _, errors = server.end(signal.SIGTERM)
            self.assertIn(f"--trusted-proxy {'unix' if is_unix else '127.0.0.1'} would trust it", errors)
            self.assertNotIn("SECRET", errors)

    def test_a_chain_ends_at_the_last_who_is_not_trusted(self):
        # As behind another proxy: nginx adds to what that one says.
        changes = [("X-Forwarded-For $remote_addr", "X-Forwarded-For $proxy_add_x_forwarded_for")]
        with Server("serve", "--port", "0", "--prefix", "/app", "--allow-host", NAME, "--trusted-proxy", "127.0.0.1") as server:
            with Proxy("nginx.conf", server.port, changes) as proxy:
                self.socket(proxy, "/app", "X-Forwarded-For: 192.0.2.1").close()
                with self.assertRaisesRegex(ConnectionRefusedError, " 400 "):
                    self.socket(proxy, "/app", "X-Forwarded-For: nonsense")


class Naming(unittest.TestCase):
    """What the log says of those who were refused."""

    def test_the_flag_is_named_and_no_path_or_query(self):
        with Server("serve", "--port", "0") as server:
            for fields, host in [
                (["Origin: https://app.example.org"], f"localhost:{server.port}"),
                (["Origin: null"], f"localhost:{server.port}"), ([], "app.example.org:8443"),
            ]:  # fmt: skip
                straight = socket.create_connection(("127.0.0.1", server.port))
                self.assertEqual(403, ask(straight, "/SECRET?token=SECRET", *fields, host=host)[0])
            _, _, errors = server.end(signal.SIGTERM)
        for text in (
            "--allow-origin https://app.example.org would let them in", "--allow-origin null would let them in",
            "--allow-host app.example.org:8443 would let it in",
        ):  # fmt: skip
            self.assertIn(text, errors)
        self.assertNotIn("SECRET", errors)


class UnixSocket(unittest.TestCase):
    def test_it_is_told_in_the_first_line_and_gone_at_the_end(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "a b")
            with Server("serve", "--unix", str(path)) as server:
                self.assertEqual(f"listening on http+unix://{str(path).replace('/', '%2F').replace(' ', '%20')}", server.first_line)
                self.assertEqual(0o140600, path.lstat().st_mode)
                connected = socket.socket(socket.AF_UNIX)
                connected.connect(str(path))
                with WebSocket(None, host="localhost", connected=connected) as client:
                    client.send({"jsonrpc": "2.0", "id": 1, "method": "$/ping"})
                    self.assertEqual(None, client.receive()["result"])
                    server.process.send_signal(signal.SIGTERM)
                    self.assertEqual(4200, client.receive())
                self.assertEqual(0, server.process.wait(timeout=30))
            self.assertFalse(path.exists())

    def test_a_server_that_was_killed_is_followed_by_the_next(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "socket")
            with Server("serve", "--unix", str(path)) as server:
                server.process.kill()
                server.process.wait()
            self.assertTrue(path.exists())
            with Server("serve", "--unix", str(path)):
                pass


if __name__ == "__main__":
    unittest.main()
