"""The log of `serve` on standard error."""

import json
import signal
import unittest

from command import Server, run
from rawsocket import WebSocket


def call(server, **request):
    with WebSocket(server.port) as client:
        client.send({"jsonrpc": "2.0", "id": 1, **request})
        client.receive()


class Logs(unittest.TestCase):
    def test_nothing_is_logged_without_errors(self):
        with Server("serve", "--port", "0") as server:
            call(server, method="$/ping")
            self.assertEqual((0, "", ""), server.end(signal.SIGTERM))

    def test_each_call_is_one_text_line(self):
        with Server("serve", "--port", "0", "--log-level", "debug") as server:
            call(server, method='a b\nc"\u001b[2J')
            _, _, errors = server.end(signal.SIGTERM)
        lines = errors.splitlines()
        for line in lines:
            self.assertRegex(line, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z (debug|info) [a-z ]+( [a-z]+=\S.*)*$")
        (record,) = [line for line in lines if " debug call " in line]
        self.assertIn(r'method="a b\\u{a}c\"\\u{1b}[2J"', record)
        self.assertRegex(record, r" code=-32601 .*id=1 method=.* ms=[0-9.]+ session=s-\S+$")

    def test_each_json_line_is_an_object(self):
        with Server("serve", "--port", "0", "--log-level", "debug", "--log-format", "json") as server:
            call(server, method="router.canOpen", params={"uri": "x://y?z"})
            _, _, errors = server.end(signal.SIGTERM)
        lines = [json.loads(line) for line in errors.splitlines()]
        self.assertEqual("listening", lines[0]["message"])
        self.assertEqual("stopped", lines[-1]["message"])
        (record,) = [line for line in lines if line["message"] == "call"]
        self.assertEqual(
            ("debug", "router.canOpen", "x://y", 0, float), (record["level"], record["method"], record["uri"], record["code"], type(record["ms"])))

    def test_rejected_request_is_a_warning(self):
        with Server("serve", "--port", "0") as server:
            with self.assertRaises(ConnectionRefusedError):
                WebSocket(server.port, "/elsewhere")
            _, _, errors = server.end(signal.SIGTERM)
        self.assertRegex(errors, r"^\S+ warning request rejected address=127.0.0.1 reason=\".*\" status=404\n$")

    def test_level_and_format_can_be_set_by_variables(self):
        with Server("serve", "--port", "0", WAYBRIDGE_LOG_LEVEL="info", WAYBRIDGE_LOG_FORMAT="json") as server:
            _, _, errors = server.end(signal.SIGTERM)
        self.assertEqual(["listening", "draining", "stopped"], [json.loads(line)["message"] for line in errors.splitlines()])

    def test_invalid_level_or_format_is_rejected(self):
        for flag in ("--log-level", "--log-format"):
            code, _, errors = run("serve", flag, "loud")
            self.assertEqual(64, code)
            self.assertIn(f"{flag} must be one of ", errors)


if __name__ == "__main__":
    unittest.main()
