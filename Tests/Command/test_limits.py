"""Limits that an operator sets, as a client experiences them."""

import json
import os
import pathlib
import resource
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

from command import WAYBRIDGE, Server
from test_metrics import parse
from rawsocket import WebSocket
from test_token import SECRET, claims, with_secret


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


POLICY = {
    "rules": [
        {"name": "operators", "allow": ["admin.*"], "subjects": ["operator"]},
        {"name": "all", "allow": ["router.*"]},
    ],
}


# Starts a program in a network of its own, in which this machine has an address beside loopback.
IN_NETWORK = 'ip link set lo up && ip address add 203.0.113.7/32 dev lo && exec "$0" "$@"'
# Opens COUNT connections to ADDRESS PORT, and prints the status of each response.
CONNECTIONS = """
import socket, sys
address, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
connections = []
for _ in range(count):
    connection = socket.create_connection((address, port), timeout=20)
    connection.sendall(b"GET /bridge HTTP/1.1\\r\\nHost: bridge.example\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n"
        b"Sec-WebSocket-Version: 13\\r\\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\n\\r\\n")
    print(connection.recv(4096).split()[1].decode())
    connections.append(connection)
"""


@unittest.skipIf(os.geteuid(), "a network of its own takes root")
class LimitsOfAnAddress(unittest.TestCase):
    def statuses(self, server, address, count):
        command = ["nsenter", "--target", str(server.process.pid), "--net", "/usr/bin/python3", "-c", CONNECTIONS]
        return subprocess.check_output([*command, address, str(server.port), str(count)], text=True, timeout=60).split()

    def test_connections_of_another_machine_are_limited(self):
        options = ["serve", "--port", "0", "--host", "0.0.0.0", "--allow-anonymous", "--allow-host", "bridge.example"]
        limit = {"WAYBRIDGE_LIMITS_MAX_ADDRESS_CONNECTIONS": "2"}
        with Server("--net", "sh", "-c", IN_NETWORK, WAYBRIDGE, *options, command="unshare", **limit) as server:
            self.assertEqual(["101", "101", "429"], self.statuses(server, "203.0.113.7", 3))
            self.assertEqual(["101"] * 3, self.statuses(server, "127.0.0.1", 3))


class LimitsBeforeAuthentication(unittest.TestCase):
    """A server with tokens and a policy. Clients that do not authenticate cost the others nothing."""

    def start(self, **limits):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        secret, policy = pathlib.Path(folder.name, "secret"), pathlib.Path(folder.name, "policy.json")
        secret.touch(0o600)
        secret.write_bytes(SECRET)
        policy.write_text(json.dumps(POLICY))
        settings = {f"WAYBRIDGE_LIMITS_{name}": str(value) for name, value in limits.items()}
        server = Server(
            "serve", "--port", "0", "--token-secret-file", str(secret), "--policy", str(policy), **settings
        )
        self.addCleanup(server.__exit__, None, None, None)
        return server.__enter__()

    def open(self, server, user):
        """The result of `session.open`; of an error, its code and the code of the close."""
        client = WebSocket(server.port, subprotocol="waybridge.v1")
        self.addCleanup(client.close)
        params = {"protocol": ["1.0"], "token": with_secret(claims(sub=user))}
        client.send({"jsonrpc": "2.0", "id": 1, "method": "session.open", "params": params})
        response = client.receive()
        return client, response.get("result") or (response["error"]["code"], client.receive())

    def silent(self, server):
        client = WebSocket(server.port, subprotocol="waybridge.v1")
        self.addCleanup(client.close)
        return client

    def sample(self, server, name, *labels):
        samples, _ = parse(get(server, "/metrics")[1])
        return samples[name][tuple(labels)]

    def test_silent_clients_do_not_keep_others_out(self):
        server = self.start(MAX_UNAUTHENTICATED=10, HELLO_MS=60_000)
        good, _ = self.open(server, "ada")
        silent = [self.silent(server) for _ in range(30)]
        _, other = self.open(server, "bob")
        self.assertIn("session", other)
        self.assertEqual(4100, silent[0].receive())
        self.assertLessEqual(self.sample(server, "waybridge_unauthenticated_connections"), 10)
        self.assertEqual(10, self.sample(server, "waybridge_unauthenticated_limit_connections"))
        good.send({"jsonrpc": "2.0", "id": 2, "method": "$/ping", "seq": 1})
        self.assertEqual(2, good.receive()["id"])

    def test_administrator_can_connect_to_a_full_server(self):
        server = self.start(MAX_CONNECTIONS=2, MAX_SESSIONS=2)
        for user in ("ada", "bob"):
            self.assertIn("session", self.open(server, user)[1])
        self.assertEqual((2503, 4100), self.open(server, "eve")[1])
        operator, opened = self.open(server, "operator")
        self.assertIn("session", opened)
        operator.send({"jsonrpc": "2.0", "id": 2, "method": "admin.refusals", "seq": 1})
        self.assertIn("result", operator.receive())
        self.assertEqual(1, self.sample(server, "waybridge_reserved_connections"))

    def test_user_has_limits(self):
        for limit, name in (("MAX_USER_CONNECTIONS", "connections"), ("MAX_USER_SESSIONS", "sessions")):
            with self.subTest(limit):
                server = self.start(**{limit: 2})
                for _ in range(2):
                    self.assertIn("session", self.open(server, "ada")[1])
                self.assertEqual((2503, 4100), self.open(server, "ada")[1])
                self.assertIn("session", self.open(server, "bob")[1])
                self.assertEqual(1, self.sample(server, "waybridge_user_refusals_total", ("limit", name)))

    def test_message_is_short_until_the_client_is_authenticated(self):
        server = self.start(MAX_HELLO=2000)
        silent = self.silent(server)
        silent.send_text(" " * 2001)
        self.assertEqual(1009, silent.receive())
        good, _ = self.open(server, "ada")
        good.send({"jsonrpc": "2.0", "id": 2, "method": "$/ping", "seq": 1, "params": {"pad": " " * 3000}})
        self.assertEqual(2, good.receive()["id"])


if __name__ == "__main__":
    unittest.main()
