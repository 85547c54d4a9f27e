"""The bridge behind nginx and haproxy, with TLS, at a port and at a Unix socket."""

import pathlib
import signal
import socket
import tempfile
import unittest

from command import ROOT, Server
from proxy import NAME, Proxy, http_request
from test_token import SECRET, claims, with_secret
from rawsocket import WebSocket

ORIGIN = f"https://{NAME}"
# The configuration, the path below which the bridge is served, and whether it is at a Unix socket.
PROXIES = [("nginx.conf", "/app", False), ("haproxy.cfg", "/app", False), ("nginx-unix.conf", "", True)]

# Host headers and their status; nginx and haproxy reject some themselves.
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


class ProxyCase(unittest.TestCase):
    """Starts a bridge with a proxy in front of it."""

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


class ProxiedServer(ProxyCase):
    def test_session_works_through_proxy(self):
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

    def test_only_files_and_health_below_prefix(self):
        for _, proxy, prefix, _ in self.each("--allow-origin", "https://page.example.com"):
            status, fields, body = http_request(proxy.connect(), f"{prefix}/bridge/bridge.js")
            self.assertEqual((200, (ROOT / "web/bridge/bridge.js").read_bytes()), (status, body))
            self.assertIn("frame-ancestors 'self' https://page.example.com", fields["content-security-policy"])
            self.assertEqual("nosniff", fields["x-content-type-options"])
            status, fields, _ = http_request(proxy.connect(), f"{prefix}/demo")
            self.assertEqual((301, f"{prefix}/demo/"), (status, fields["location"]))
            if prefix:
                status, fields, _ = http_request(proxy.connect(), f"{prefix}?a=b")
                self.assertEqual((301, f"{prefix}/?a=b"), (status, fields["location"]))
                for path in ("/health", "/bridge/bridge.js", "/", f"{prefix}x/health"):
                    self.assertEqual(404, http_request(proxy.connect(), path)[0], path)
            for origin, shared in [("https://page.example.com", True), (ORIGIN, True), ("https://evil.example", False)]:
                status, fields, body = http_request(proxy.connect(), f"{prefix}/health", f"Origin: {origin}", host="any.example")
                self.assertEqual((200, b'{"status":"ok"}\n'), (status, body))
                self.assertEqual(origin if shared else None, fields.get("access-control-allow-origin"))

    def test_long_cookies_and_chunked_bodies(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        secret = pathlib.Path(folder.name, "secret")
        secret.write_bytes(SECRET)
        secret.chmod(0o600)
        token = f"Authorization: Bearer {with_secret(claims(exp=4_000_000_000))}"
        cookies = "Cookie: " + "; ".join(f"c{number}={'x' * 990}" for number in range(24))
        ping = '{"jsonrpc":"2.0","id":1,"method":"$/ping"}'
        chunks = "".join(f"{len(part):x}\r\n{part}\r\n" for part in (ping[:7], ping[7:], ""))
        for _, proxy, prefix, _ in self.each("--token-secret-file", str(secret)):
            self.socket(proxy, prefix, token, cookies).close()
            fields = [token, cookies, "Content-Type: application/json", "Transfer-Encoding: chunked"]
            status, _, body = http_request(proxy.connect(), f"{prefix}/rpc", *fields, method="POST", body=chunks)
            self.assertEqual((200, b'{"jsonrpc":"2.0","id":1,"result":null}'), (status, body))

    def test_metrics_are_for_local_programs_only(self):
        for server, proxy, prefix, is_unix in self.each():
            self.assertEqual(403, http_request(proxy.connect(), f"{prefix}/metrics")[0])
            self.assertEqual(403, http_request(proxy.connect(), f"{prefix}/metrics", "X-Forwarded-For: 127.0.0.1")[0])
            if is_unix:
                straight, host = socket.socket(socket.AF_UNIX), "localhost"
                straight.connect(server.unix)
            else:
                straight, host = socket.create_connection(("127.0.0.1", server.port)), f"127.0.0.1:{server.port}"
            self.assertEqual(200, http_request(straight, f"{prefix}/metrics", host=host)[0])


class ProxyAccess(ProxyCase):
    def test_hosts_origins_and_tokens_are_checked_unchanged(self):
        # test_proxy_matrix.py covers the first one completely.
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
                        # The proxies have messages of their own for an invalid host.
                        allowed = {400, 403} if expected == refused else {expected}
                        self.assertIn(status, allowed, (host, fields))
            self.assertEqual(426, http_request(proxy.connect(), f"{prefix}/bridge")[0])
            self.assertEqual(400, http_request(proxy.connect(), f"{prefix}/bridge", host=None)[0])

    def test_forwarding_headers_of_client_are_ignored(self):
        for _, proxy, prefix, _ in self.each():
            for field in (
                "X-Forwarded-For: 127.0.0.1", "X-Forwarded-For: nonsense", "Forwarded: for=127.0.0.1", "Forwarded: ;;",
                "X-Forwarded-Host: localhost", "X-Real-IP: 127.0.0.1",
            ):  # fmt: skip
                self.socket(proxy, prefix, field).close()
                self.assertEqual(403, http_request(proxy.connect(), f"{prefix}/metrics", field)[0], field)

    def test_untrusted_proxy_is_rejected_with_flag_in_log(self):
        for server, proxy, prefix, is_unix in self.each(trusted=False):
            for path in ("/bridge/bridge.js", "/health", "/metrics"):
                status, _, body = http_request(proxy.connect(), prefix + path, "Authorization: Bearer SECRET")
                self.assertEqual(403, status)
                self.assertEqual(b'the header "x-forwarded-for" shows a proxy that the server does not trust\n', body)
            with self.assertRaisesRegex(ConnectionRefusedError, " 403 "):
                self.socket(proxy, prefix, f"Origin: {ORIGIN}")
            _, _, errors = server.end(signal.SIGTERM)
            self.assertIn(f"trust it with --trusted-proxy {'unix' if is_unix else '127.0.0.1'}", errors)
            self.assertNotIn("SECRET", errors)

    def test_proxy_chain_ends_at_last_untrusted_address(self):
        # Like behind another proxy: nginx appends to its header.
        changes = [("X-Forwarded-For $remote_addr", "X-Forwarded-For $proxy_add_x_forwarded_for")]
        with Server("serve", "--port", "0", "--prefix", "/app", "--allow-host", NAME, "--trusted-proxy", "127.0.0.1") as server:
            with Proxy("nginx.conf", server.port, changes) as proxy:
                self.socket(proxy, "/app", "X-Forwarded-For: 192.0.2.1").close()
                with self.assertRaisesRegex(ConnectionRefusedError, " 400 "):
                    self.socket(proxy, "/app", "X-Forwarded-For: nonsense")


class OriginRejection(unittest.TestCase):
    """The log lines of rejected connections."""

    def test_rejection_names_flag_without_path_or_query(self):
        with Server("serve", "--port", "0") as server:
            for fields, host in [
                (["Origin: https://app.example.org"], f"localhost:{server.port}"),
                (["Origin: null"], f"localhost:{server.port}"), ([], "app.example.org:8443"),
            ]:  # fmt: skip
                straight = socket.create_connection(("127.0.0.1", server.port))
                self.assertEqual(403, http_request(straight, "/SECRET?token=SECRET", *fields, host=host)[0])
            _, _, errors = server.end(signal.SIGTERM)
        for text in (
            "allow them with --allow-origin https://app.example.org", "with --allow-origin null",
            "allow it with --allow-host app.example.org:8443",
        ):  # fmt: skip
            self.assertIn(text, errors)
        self.assertNotIn("SECRET", errors)


class UnixSocket(unittest.TestCase):
    def test_unix_socket_is_printed_and_removed_at_exit(self):
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

    def test_next_server_replaces_socket_of_killed_server(self):
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
