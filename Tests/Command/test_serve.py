"""`waybridge serve` and `waybridge demo`: the behaviour that scripts depend on."""

import contextlib
import gzip
import json
import pathlib
import shutil
import signal
import socket
import tempfile
import time
import unittest
import urllib.error
import urllib.request

from command import ROOT, WAYBRIDGE, Server, run
from rawsocket import WebSocket

TABLE = str(ROOT / "protocol/routes/demo.json")


def get(url):
    """The status and the text of an HTTP response."""
    try:
        with urllib.request.urlopen(url, timeout=20) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def has_ipv6():
    """Whether this machine has the address ::1."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


class ListeningAddress(unittest.TestCase):
    def test_first_line_prints_address_with_free_port(self):
        with Server("serve", "--port", "0") as one, Server("serve", "--port", "0") as other:
            self.assertEqual(f"listening on http://127.0.0.1:{one.port}", one.first_line)
            self.assertNotIn(one.port, (0, 8080, other.port))
            for server in (one, other):
                self.assertEqual((200, '{"status":"ok"}\n'), get(server.address + "/health"))

    @unittest.skipUnless(has_ipv6(), "this machine has no ::1")
    def test_ipv6_address_is_printed_in_brackets(self):
        with Server("serve", "--host", "::1", "--port", "0") as server:
            self.assertEqual(f"listening on http://[::1]:{server.port}", server.first_line)
            self.assertEqual(200, get(server.address + "/health")[0])

    def test_localhost_is_both_loopback_addresses(self):
        with Server("serve", "--host", "localhost", "--port", "0") as server:
            if has_ipv6():
                self.assertEqual(f"listening on http://localhost:{server.port}", server.first_line)
            else:
                self.assertEqual(f"listening on http://127.0.0.1:{server.port}", server.first_line)
            for address in ["127.0.0.1"] + ["::1"] * has_ipv6():
                for host in ("localhost", "127.0.0.1", "[::1]"):
                    name = f"{host}:{server.port}"
                    connected = socket.create_connection((address, server.port), timeout=20)
                    with WebSocket(None, host=name, fields=[f"Origin: http://{name}"], connected=connected) as client:
                        client.send({"jsonrpc": "2.0", "id": 1, "method": "$/ping"})
                        self.assertIsNone(client.receive()["result"])
            for command in ("serve", "demo"):
                status, _, errors = run(command, "--port", str(server.port))
                self.assertEqual(1, status)
                self.assertIn("is in use by another program; choose another with --port", errors)

    @unittest.skipUnless(has_ipv6(), "this machine has no ::1")
    def test_port_of_localhost_is_free_at_both_addresses(self):
        with Server("serve", "--host", "::1", "--port", "0") as server:
            status, _, errors = run("serve", "--host", "localhost", "--port", str(server.port))
            self.assertEqual(1, status)
            self.assertIn(f"[::1]:{server.port} is in use by another program; choose another with --port", errors)

    @unittest.skipUnless(has_ipv6(), "this machine has no ::1")
    def test_unspecified_ipv6_address_is_reached_over_ipv4(self):
        with Server("serve", "--host", "::", "--port", "0", "--allow-anonymous") as server:
            self.assertEqual(f"listening on http://[::]:{server.port}", server.first_line)
            for host in ("127.0.0.1", "[::1]"):
                for path in ("/health", "/metrics"):
                    self.assertEqual(200, get(f"http://{host}:{server.port}{path}")[0], host)

    def test_second_line_of_demo_prints_its_page(self):
        with Server("demo", "--port", "0") as server:
            self.assertEqual(f"open {server.address}/demo/ in a browser", server.line())
            self.assertIn("<html", get(server.address + "/demo/")[1])

    def test_table_and_its_version_are_served(self):
        with Server("serve", "--table", TABLE, "--port", "0") as server:
            with WebSocket(server.port, subprotocol="waybridge.v1") as client:
                hello = {"protocol": ["1.0"], "client": {"name": "test", "version": "1"}}
                client.send({"jsonrpc": "2.0", "id": 1, "method": "session.open", "params": hello})
                self.assertEqual("1", client.receive()["result"]["table"]["version"])
                client.send({"jsonrpc": "2.0", "id": 2, "method": "router.routes"})
                names = [route["name"] for route in client.receive()["result"]]
        self.assertEqual([route["name"] for route in json.loads(pathlib.Path(TABLE).read_text())["routes"]], names)

    def test_only_conformance_adds_methods_and_echo(self):
        request = {"jsonrpc": "2.0", "id": 1, "method": "subtract", "params": [42, 23]}
        with Server("serve", "--port", "0", "--conformance") as server:
            with WebSocket(server.port) as client, WebSocket(server.port, "/echo") as echo:
                client.send(request)
                self.assertEqual({"jsonrpc": "2.0", "id": 1, "result": 19}, client.receive())
                echo.send([1, "ä"])
                self.assertEqual([1, "ä"], echo.receive())
        with Server("serve", "--port", "0") as server:
            with WebSocket(server.port) as client:
                client.send(request)
                self.assertEqual(-32601, client.receive()["error"]["code"])
            with self.assertRaises(ConnectionRefusedError):
                WebSocket(server.port, "/echo")


class Files(unittest.TestCase):
    def test_only_client_and_demo_of_package_are_served(self):
        with Server("serve", "--port", "0") as server:
            for path in ("/", "/bridge/bridge.js", "/demo/", "/demo/workbench.js"):
                self.assertEqual(200, get(server.address + path)[0], path)
            for path in ("/package.json", "/tsconfig.json", "/test/peer.test.js", "/test/", "/bridge/%2e%2e/package.json"):
                self.assertEqual(404, get(server.address + path)[0], path)

    def test_web_files_of_own_package_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder, "package")
            command = package / ".build/platform/release/waybridge"
            command.parent.mkdir(parents=True)
            shutil.copy(WAYBRIDGE, command)
            for web, status in [(pathlib.Path(folder, "web"), 404), (package / "web", 200)]:
                (web / "bridge").mkdir(parents=True)
                (web / "bridge/bridge.js").write_text("// the client\n")
                (web / "index.html").write_text("the page\n")
                with Server("serve", "--port", "0", command=str(command)) as server:
                    self.assertEqual(status, get(server.address + "/")[0], web)
                    text = get(server.address + "/bridge/bridge.js")[1]
                    self.assertEqual(status == 200, text == "// the client\n", web)

    def test_named_web_folder_is_served_completely(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "package.json").write_text("{}")
            with Server("serve", "--port", "0", "--web", folder) as server:
                self.assertEqual((200, "{}"), get(server.address + "/package.json"))
                self.assertEqual(404, get(server.address + "/demo/")[0])

    def test_client_is_embedded_in_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            command = pathlib.Path(folder, "waybridge")
            shutil.copy(WAYBRIDGE, command)
            web = pathlib.Path(folder, "files")
            web.mkdir()
            for arguments in ([], ["--web", str(web)]):
                with Server("serve", "--port", "0", *arguments, command=str(command)) as server:
                    names = [path.relative_to(ROOT / "web/bridge") for path in (ROOT / "web/bridge").rglob("*.js")]
                    # Files that are created for npm are not in the program.
                    names = [name for name in names if name.parts[0] != "dist"]
                    for name in names:
                        with urllib.request.urlopen(f"{server.address}/bridge/{name}", timeout=20) as response:
                            self.assertEqual((ROOT / "web/bridge" / name).read_bytes(), response.read(), name)
                            self.assertEqual("text/javascript; charset=utf-8", response.headers["Content-Type"])
                    for name in names:
                        if name.name.endswith(".min.js"):
                            request = urllib.request.Request(f"{server.address}/bridge/{name}", headers={"Accept-Encoding": "gzip"})
                            with urllib.request.urlopen(request, timeout=20) as response:
                                self.assertEqual("gzip", response.headers["Content-Encoding"])
                                self.assertEqual((ROOT / "web/bridge" / name).read_bytes(), gzip.decompress(response.read()), name)
                    for path in ("/bridge/", "/bridge/README.md", "/bridge/%2e%2e/bridge/bridge.js", "/bridge.js"):
                        self.assertEqual(404, get(server.address + path)[0], path)
                    self.assertEqual(426, get(server.address + "/bridge")[0])
            (web / "bridge").mkdir()
            (web / "bridge/own.js").write_text("// own\n")
            with Server("serve", "--port", "0", "--web", str(web), command=str(command)) as server:
                self.assertEqual((200, "// own\n"), get(server.address + "/bridge/own.js"))
                self.assertEqual(404, get(server.address + "/bridge/bridge.js")[0])

    def test_client_files_can_be_disabled(self):
        with tempfile.TemporaryDirectory() as folder:
            for arguments in ([], ["--web", folder]):
                with Server("serve", "--port", "0", "--no-client", *arguments) as server:
                    self.assertEqual(404, get(server.address + "/bridge/bridge.js")[0])
                    with WebSocket(server.port) as client:
                        client.send({"jsonrpc": "2.0", "id": 1, "method": "$/ping"})
                        self.assertEqual(None, client.receive()["result"])


class Shutdown(unittest.TestCase):
    def test_signal_closes_connections_with_4200_and_exits_0(self):
        for command in (["serve"], ["demo"]):
            for number in (signal.SIGTERM, signal.SIGINT):
                with self.subTest(command=command, signal=number.name):
                    with Server(*command, "--port", "0") as server:
                        with WebSocket(server.port) as client, WebSocket(server.port) as other:
                            for each in (client, other):
                                each.send({"jsonrpc": "2.0", "id": 1, "method": "$/ping"})
                                self.assertEqual(None, each.receive()["result"])
                            server.process.send_signal(number)
                            self.assertEqual([4200, 4200], [client.receive(), other.receive()])
                            code = server.process.wait(timeout=30)
                        self.assertEqual((0, b""), (code, server.process.stderr.read()))

    def test_silent_clients_hardly_delay_the_end(self):
        # Neither of them reads or confirms the close. The second one has responses that it has not read.
        with Server("serve", "--port", "0") as server, WebSocket(server.port), contextlib.ExitStack() as stack:
            connected = socket.create_connection(("127.0.0.1", server.port), timeout=20)
            client = stack.enter_context(WebSocket(server.port, connected=connected))
            for number in range(100):
                client.send({"jsonrpc": "2.0", "id": number, "method": "$/ping"})
            while b'"id":99' not in connected.recv(65_536, socket.MSG_PEEK):
                pass
            start = time.monotonic()
            code, _, _ = server.end(signal.SIGTERM)
            self.assertEqual(0, code)
            self.assertLess(time.monotonic() - start, 4)
            for number in range(100):
                self.assertEqual(number, client.receive()["id"])
            self.assertEqual(4200, client.receive())

    def test_signal_stops_server_without_connections(self):
        with Server("serve", "--port", "0") as server:
            self.assertEqual((0, "", ""), server.end(signal.SIGTERM))


class StartErrors(unittest.TestCase):
    """Invalid settings: a reason on standard error, and no output on standard output."""

    def refused(self, code, *arguments):
        status, output, errors = run(*arguments)
        self.assertEqual((code, ""), (status, output), errors)
        return errors

    def table(self, text):
        file = tempfile.NamedTemporaryFile("w", suffix=".json")
        self.addCleanup(file.close)
        file.write(text)
        file.flush()
        return file.name

    def test_missing_table_is_reported(self):
        errors = self.refused(1, "serve", "--port", "0", "--table", "/no/such/table.json")
        self.assertIn("/no/such/table.json cannot be read", errors)
        self.assertNotIn("Usage", errors)

    def test_table_that_is_not_json(self):
        path = self.table('{"version": "1",}')
        self.assertRegex(self.refused(1, "serve", "--port", "0", "--table", path), f"{path} is not JSON: line 1, column \\d+: .+")

    def test_all_faults_of_table_are_reported(self):
        path = self.table('{"version": 1, "routes": [{"name": "a", "pattern": "a://b", "kind": "pane"}]}')
        errors = self.refused(1, "serve", "--port", "0", "--table", path)
        self.assertIn("$.version: ", errors)
        self.assertRegex(errors, r"(?m)^\$\.version: .* \(line 1, column 2\)$")
        self.assertRegex(errors, r"(?m)^\$\.routes\[0\]\.kind: .* \(line 1, column 61\)$")

    def test_two_routes_with_one_pattern(self):
        route = '{"name": "%s", "pattern": "a://b", "kind": "page"}'
        path = self.table('{"version": "1", "routes": [%s, %s]}' % (route % "one", route % "other"))
        self.assertIn("one", self.refused(1, "serve", "--port", "0", "--table", path))

    def test_host_that_is_no_loopback_address(self):
        for host in ("0.0.0.0", "example.org", ""):
            errors = self.refused(1, "serve", "--port", "0", "--host", host)
            for text in ("Error: cannot listen on ", "127.0.0.1", "--token-secret-file", "--allow-anonymous"):
                self.assertIn(text, errors, host)

    def test_port_out_of_range_or_not_numeric(self):
        for port in ("65536", "-1", "http", ""):
            for command in ("serve", "demo"):
                self.assertIn("--port", self.refused(64, command, f"--port={port}"), port)

    def test_port_already_in_use(self):
        with Server("serve", "--port", "0") as server:
            for command in ("serve", "demo"):
                errors = self.refused(1, command, "--port", str(server.port))
                self.assertIn(f":{server.port} is in use by another program; choose another with --port", errors)

    def test_invalid_web_folder_is_reported(self):
        for path in ("/no/such/folder", TABLE):
            self.assertIn(path, self.refused(1, "serve", "--port", "0", "--web", path))

    def test_unknown_option_is_rejected(self):
        self.assertIn("--no-such-option", self.refused(64, "serve", "--no-such-option", "x"))


if __name__ == "__main__":
    unittest.main()
