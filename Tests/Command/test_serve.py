"""`waybridge serve` and `waybridge demo`: what scripts rely on."""

import json
import pathlib
import shutil
import signal
import socket
import tempfile
import unittest
import urllib.error
import urllib.request

from command import ROOT, WAYBRIDGE, Server, run
from rawsocket import WebSocket

TABLE = str(ROOT / "protocol/routes/demo.json")


def get(url):
    """The status and the text of an HTTP answer."""
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


class Listening(unittest.TestCase):
    def test_the_first_line_tells_the_address_and_port_0_takes_a_free_port(self):
        with Server("serve", "--port", "0") as one, Server("serve", "--port", "0") as other:
            self.assertEqual(f"listening on http://127.0.0.1:{one.port}", one.first_line)
            self.assertNotIn(one.port, (0, 8080, other.port))
            for server in (one, other):
                self.assertEqual((200, '{"status":"ok"}\n'), get(server.address + "/health"))

    def test_ipv6_is_told_in_brackets(self):
        try:
            socket.create_server(("::1", 0), family=socket.AF_INET6).close()
        except OSError:
            self.skipTest("this machine has no ::1")
        with Server("serve", "--host", "::1", "--port", "0") as server:
            self.assertEqual(f"listening on http://[::1]:{server.port}", server.first_line)
            self.assertEqual(200, get(server.address + "/health")[0])

    def test_the_demos_second_line_tells_the_page_to_open(self):
        with Server("demo", "--port", "0") as server:
            self.assertEqual(f"open {server.address}/demo/ in a browser", server.line())
            self.assertIn("<html", get(server.address + "/demo/")[1])

    def test_a_table_is_served_and_its_version_told(self):
        with Server("serve", "--table", TABLE, "--port", "0") as server:
            with WebSocket(server.port, subprotocol="waybridge.v1") as client:
                hello = {"protocol": ["1.0"], "client": {"name": "test", "version": "1"}}
                client.send({"jsonrpc": "2.0", "id": 1, "method": "session.open", "params": hello})
                self.assertEqual("1", client.receive()["result"]["table"]["version"])
                client.send({"jsonrpc": "2.0", "id": 2, "method": "router.routes"})
                names = [route["name"] for route in client.receive()["result"]]
        self.assertEqual([route["name"] for route in json.loads(pathlib.Path(TABLE).read_text())["routes"]], names)

    def test_only_conformance_adds_methods_and_an_echo(self):
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
    def test_of_the_packages_web_files_only_the_client_and_the_demo_are_served(self):
        with Server("serve", "--port", "0") as server:
            for path in ("/", "/bridge/bridge.js", "/demo/", "/demo/workbench.js"):
                self.assertEqual(200, get(server.address + path)[0], path)
            for path in ("/package.json", "/tsconfig.json", "/test/peer.test.js", "/test/", "/bridge/%2e%2e/package.json"):
                self.assertEqual(404, get(server.address + path)[0], path)

    def test_the_web_files_of_the_commands_own_package_are_found_and_none_above_it(self):
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

    def test_a_folder_that_is_named_is_served_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "package.json").write_text("{}")
            with Server("serve", "--port", "0", "--web", folder) as server:
                self.assertEqual((200, "{}"), get(server.address + "/package.json"))
                self.assertEqual(404, get(server.address + "/demo/")[0])

    def test_the_client_is_in_the_program_wherever_that_lies(self):
        with tempfile.TemporaryDirectory() as folder:
            command = pathlib.Path(folder, "waybridge")
            shutil.copy(WAYBRIDGE, command)
            web = pathlib.Path(folder, "files")
            web.mkdir()
            for arguments in ([], ["--web", str(web)]):
                with Server("serve", "--port", "0", *arguments, command=str(command)) as server:
                    names = [path.relative_to(ROOT / "web/bridge") for path in (ROOT / "web/bridge").rglob("*.js")]
                    # What is made for npm is in no program.
                    names = [name for name in names if name.parts[0] != "dist"]
                    for name in names:
                        with urllib.request.urlopen(f"{server.address}/bridge/{name}", timeout=20) as answer:
                            self.assertEqual((ROOT / "web/bridge" / name).read_bytes(), answer.read(), name)
                            self.assertEqual("text/javascript; charset=utf-8", answer.headers["Content-Type"])
                    for path in ("/bridge/", "/bridge/README.md", "/bridge/%2e%2e/bridge/bridge.js", "/bridge.js"):
                        self.assertEqual(404, get(server.address + path)[0], path)
                    self.assertEqual(426, get(server.address + "/bridge")[0])
            (web / "bridge").mkdir()
            (web / "bridge/own.js").write_text("// own\n")
            with Server("serve", "--port", "0", "--web", str(web), command=str(command)) as server:
                self.assertEqual((200, "// own\n"), get(server.address + "/bridge/own.js"))
                self.assertEqual(404, get(server.address + "/bridge/bridge.js")[0])

    def test_the_client_can_be_left_out(self):
        with tempfile.TemporaryDirectory() as folder:
            for arguments in ([], ["--web", folder]):
                with Server("serve", "--port", "0", "--no-client", *arguments) as server:
                    self.assertEqual(404, get(server.address + "/bridge/bridge.js")[0])
                    with WebSocket(server.port) as client:
                        client.send({"jsonrpc": "2.0", "id": 1, "method": "$/ping"})
                        self.assertEqual(None, client.receive()["result"])


class Ending(unittest.TestCase):
    def test_a_signal_closes_connections_with_4200_and_exits_0(self):
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

    def test_a_signal_ends_a_server_without_connections(self):
        with Server("serve", "--port", "0") as server:
            self.assertEqual((0, "", ""), server.end(signal.SIGTERM))


class Refusing(unittest.TestCase):
    """What cannot be served: a reason on standard error, nothing on standard output."""

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

    def test_a_table_that_is_not_there(self):
        errors = self.refused(1, "serve", "--port", "0", "--table", "/no/such/table.json")
        self.assertIn("/no/such/table.json cannot be read", errors)
        self.assertNotIn("Usage", errors)

    def test_a_table_that_is_not_json(self):
        path = self.table('{"version": "1",}')
        self.assertRegex(self.refused(1, "serve", "--port", "0", "--table", path), f"{path} is not JSON, or not clear: .+")

    def test_a_wrong_table_is_told_every_fault_with_its_place(self):
        path = self.table('{"version": 1, "routes": [{"name": "a", "pattern": "a://b", "kind": "pane"}]}')
        errors = self.refused(1, "serve", "--port", "0", "--table", path)
        self.assertIn("$.version: ", errors)
        self.assertIn("$.routes[0].kind: ", errors)

    def test_two_routes_that_clash(self):
        route = '{"name": "%s", "pattern": "a://b", "kind": "page"}'
        path = self.table('{"version": "1", "routes": [%s, %s]}' % (route % "one", route % "other"))
        self.assertIn("one", self.refused(1, "serve", "--port", "0", "--table", path))

    def test_a_host_that_is_no_loopback_address(self):
        for host in ("0.0.0.0", "example.org", ""):
            self.assertIn("127.0.0.1", self.refused(1, "serve", "--port", "0", "--host", host), host)

    def test_a_port_out_of_range_or_no_number(self):
        for port in ("65536", "-1", "http", ""):
            for command in ("serve", "demo"):
                self.assertIn("--port", self.refused(64, command, f"--port={port}"), port)

    def test_a_port_in_use(self):
        with Server("serve", "--port", "0") as server:
            for command in ("serve", "demo"):
                self.assertIn(str(server.port), self.refused(1, command, "--port", str(server.port)))

    def test_a_web_folder_that_is_none(self):
        for path in ("/no/such/folder", TABLE):
            self.assertIn(path, self.refused(1, "serve", "--port", "0", "--web", path))

    def test_an_option_that_is_unknown(self):
        self.assertIn("--no-such-option", self.refused(64, "serve", "--no-such-option", "x"))


if __name__ == "__main__":
    unittest.main()
