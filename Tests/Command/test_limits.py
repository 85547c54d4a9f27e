"""Limits that an operator sets, as a client meets them."""

import unittest

from command import Server
from websocket import WebSocket


class Limits(unittest.TestCase):
    def test_a_client_that_answers_no_ping_is_closed_with_4202(self):
        with Server("serve", "--port", "0", WAYBRIDGE_LIMITS_PING_MS="20", WAYBRIDGE_LIMITS_SILENCE_MS="60") as server:
            with WebSocket(server.port) as client:
                self.assertEqual(4202, client.receive())

    def test_a_client_that_says_no_hello_is_closed_with_4101(self):
        with Server("serve", "--port", "0", WAYBRIDGE_LIMITS_HELLO_MS="20") as server:
            with WebSocket(server.port, subprotocol="waybridge.v1") as client:
                self.assertEqual(4101, client.receive())

    def test_a_session_too_many_is_refused_with_4100(self):
        with Server("serve", "--port", "0", WAYBRIDGE_LIMITS_MAX_SESSIONS="1") as server:
            with WebSocket(server.port) as client, WebSocket(server.port, subprotocol="waybridge.v1") as other:
                client.send({"jsonrpc": "2.0", "id": 1, "method": "$/ping"})
                client.receive()
                other.send({"jsonrpc": "2.0", "id": 1, "method": "session.open", "params": {"protocol": ["1.0"]}})
                self.assertEqual(2503, other.receive()["error"]["code"])
                self.assertEqual(4100, other.receive())

    def test_a_connection_too_many_is_answered_503(self):
        with Server("serve", "--port", "0", WAYBRIDGE_LIMITS_MAX_CONNECTIONS="1") as server:
            with WebSocket(server.port), self.assertRaisesRegex(ConnectionRefusedError, " 503 "):
                WebSocket(server.port)

    def test_depth_and_calls_in_flight_are_kept(self):
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
                answers = [client.receive(), client.receive()]
                (refused,) = [answer for answer in answers if "error" in answer]
                self.assertEqual((4, 2429), (refused["id"], refused["error"]["code"]))


if __name__ == "__main__":
    unittest.main()
