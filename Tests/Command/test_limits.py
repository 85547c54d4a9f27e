"""Limits that an operator sets, as a client experiences them."""

import json
import pathlib
import resource
import signal
import socket
import tempfile
import time
import unittest
import urllib.error
import urllib.request

from command import Server
from test_metrics import parse
from rawsocket import WebSocket


def get(server, path):
    """Status and text."""
    try:
        with urllib.request.urlopen(server.address + path, timeout=20) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read().decode()


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


class Limits(unittest.TestCase):
    def test_client_that_ignores_pings_is_closed_with_4202(self):
        with Server("serve", "--port", "0", WAYBRIDGE_LIMITS_PING_MS="20", WAYBRIDGE_LIMITS_SILENCE_MS="60") as server:
            with WebSocket(server.port) as client:
                self.assertEqual(4202, client.receive())

    def test_client_without_session_open_is_closed_with_4101(self):
        with Server("serve", "--port", "0", WAYBRIDGE_LIMITS_HELLO_MS="20") as server:
            with WebSocket(server.port, subprotocol="waybridge.v1") as client:
                self.assertEqual(4101, client.receive())

    def test_session_above_limit_is_rejected_with_4100(self):
        with Server("serve", "--port", "0", WAYBRIDGE_LIMITS_MAX_SESSIONS="1") as server:
            with WebSocket(server.port) as client, WebSocket(server.port, subprotocol="waybridge.v1") as other:
                client.send({"jsonrpc": "2.0", "id": 1, "method": "$/ping"})
                client.receive()
                other.send({"jsonrpc": "2.0", "id": 1, "method": "session.open", "params": {"protocol": ["1.0"]}})
                self.assertEqual(2503, other.receive()["error"]["code"])
                self.assertEqual(4100, other.receive())

    def test_connection_above_limit_is_rejected_with_503(self):
        with Server("serve", "--port", "0", WAYBRIDGE_LIMITS_MAX_CONNECTIONS="1") as server:
            with WebSocket(server.port), self.assertRaisesRegex(ConnectionRefusedError, " 503 "):
                WebSocket(server.port)

    def test_head_of_a_request_is_limited_with_its_cookies(self):
        cookies = "; ".join(f"c{number}={'x' * 990}" for number in range(16))
        with Server("serve", "--port", "0") as server:
            WebSocket(server.port, fields=[f"Cookie: {cookies}"]).close()
            with self.assertRaisesRegex(ConnectionRefusedError, " 431 "):
                WebSocket(server.port, fields=[f"Cookie: {cookies}; {cookies}; {cookies}"])
            _, _, errors = server.end(signal.SIGTERM)
            self.assertIn("the request head, with its cookies, is longer than 32768 bytes", errors)
            self.assertIn("WAYBRIDGE_LIMITS_MAX_HEAD", errors)
        with Server("serve", "--port", "0", WAYBRIDGE_LIMITS_MAX_HEAD="60000") as server:
            WebSocket(server.port, fields=[f"Cookie: {cookies}; {cookies}; {cookies}"]).close()
        with Server("serve", "--port", "0", WAYBRIDGE_LIMITS_MAX_HEAD="1000") as server:
            WebSocket(server.port).close()
            with self.assertRaisesRegex(ConnectionRefusedError, " 431 "):
                WebSocket(server.port, fields=[f"Cookie: {cookies}"])

    def test_full_server_serves_health_and_metrics(self):
        with Server("serve", "--port", "0", WAYBRIDGE_LIMITS_MAX_CONNECTIONS="1") as server, WebSocket(server.port):
            self.assertEqual({"status": "ok"}, json.loads(get(server, "/health")[1]))
            self.assertEqual(503, get(server, "/")[0])
            samples, _ = parse(get(server, "/metrics")[1])
            self.assertEqual(1, samples["waybridge_refusals_total"][(("reason", "full"),)])

    def test_missing_descriptors_reject_only_new_clients(self):
        def few():
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

        with tempfile.TemporaryDirectory() as folder, Server(
            "serve", "--port", "0", "--web", folder, preexec_fn=few
        ) as server, WebSocket(server.port) as client:
            (pathlib.Path(folder) / "a.txt").write_text("a")
            self.assertEqual((200, "a"), get(server, "/a.txt"))
            files = socket.create_connection(("127.0.0.1", server.port))
            files.sendall(f"GET /health HTTP/1.1\r\nHost: localhost:{server.port}\r\n\r\n".encode())
            self.assertIn(b" 200 ", files.recv(4096))
            crowd = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(64)]
            self.assertIn(b"HTTP/1.1 503 ", crowd[-1].recv(4096))
            self.assertEqual(503, get(server, "/a.txt")[0])
            files.sendall(f"GET /a.txt HTTP/1.1\r\nHost: localhost:{server.port}\r\n\r\n".encode())
            self.assertIn(b"HTTP/1.1 503 ", files.recv(4096))
            before = processor_seconds(server.process.pid)
            time.sleep(0.5)
            self.assertLess(processor_seconds(server.process.pid) - before, 0.2)
            client.send({"jsonrpc": "2.0", "id": 1, "method": "$/ping"})
            self.assertEqual({"jsonrpc": "2.0", "id": 1, "result": None}, client.receive())
            files.close()
            for end in crowd:
                end.close()
            deadline = time.monotonic() + 20
            while get(server, "/a.txt")[0] != 200 and time.monotonic() < deadline:
                pass
            self.assertEqual((200, "a"), get(server, "/a.txt"))

    def test_depth_and_in_flight_limits_are_enforced(self):
        with Server(
            "serve", "--port", "0", "--conformance", WAYBRIDGE_LIMITS_MAX_DEPTH="4", WAYBRIDGE_LIMITS_MAX_IN_FLIGHT="1"
        ) as server:
            with WebSocket(server.port) as client:
                for value, code in (([[1]], None), ([[[1]]], -32700)):
                    client.send({"jsonrpc": "2.0", "id": 1, "method": "echo", "params": {"value": value}})
                    self.assertEqual(code, client.receive().get("error", {}).get("code"))
                host = {"kind": "task", "scheme": "slow"}
                client.send({"jsonrpc": "2.0", "id": 2, "method": "host.register", "params": {"hosts": [host]}})
                client.receive()
                for identity in (3, 4):
                    params = {"uri": "slow://task"}
                    client.send({"jsonrpc": "2.0", "id": identity, "method": "router.invoke", "params": params})
                responses = [client.receive(), client.receive()]
                (refused,) = [response for response in responses if "error" in response]
                self.assertEqual((4, 2429), (refused["id"], refused["error"]["code"]))


if __name__ == "__main__":
    unittest.main()
