"""The network for tests, Tests/Chaos/network: which packets are forwarded, lost and delayed, and that nothing of it remains."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import time
import unittest

NETWORK = pathlib.Path(__file__).with_name("network")
# Sends a line on each connection, from within a namespace; its first line says that it listens.
SERVER = """
import socket
with socket.create_server(("", 7000)) as server:
    print("listening", flush=True)
    while True:
        connection, _ = server.accept()
        connection.sendall(b"here\\n")
        connection.close()
"""


def refusal():
    """Why there can be no network here; None if there can."""
    with subprocess.Popen([NETWORK, f"wt{os.getpid()}", "one"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as network:
        _, errors = network.communicate()
        return errors.strip() or None if network.returncode else None


REFUSAL = refusal()


def spaces():
    return {line.split()[0] for line in subprocess.check_output(["ip", "netns"], text=True).splitlines()}


@unittest.skipIf(REFUSAL, REFUSAL)
class Network(unittest.TestCase):
    def setUp(self):
        self.prefix = f"wt{os.getpid()}"
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self.network = subprocess.Popen([NETWORK, self.prefix, "east", "west"], **pipes, text=True)
        self.addCleanup(self.end)
        self.addresses = json.loads(self.network.stdout.readline())

    def end(self):
        self.network.stdin.close()
        code = self.network.wait()
        self.network.stdout.close()
        self.network.stderr.close()
        return code

    def start_server(self, name):
        command = ["ip", "netns", "exec", f"{self.prefix}-{name}", "/usr/bin/python3", "-c", SERVER]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual("listening\n", process.stdout.readline())
        return process

    def connect(self, name, timeout=10):
        """Connects to a name; returns what it sends, and the seconds until then."""
        began = time.monotonic()
        with socket.create_connection((self.addresses[name], 7000), timeout=timeout) as connection:
            return connection.recv(16), time.monotonic() - began

    def rule(self, *rules):
        self.network.stdin.write(json.dumps(rules) + "\n")
        self.network.stdin.flush()
        return json.loads(self.network.stdout.readline())

    def test_network_rules_drop_and_delay_packets(self):
        self.start_server("east")
        self.assertEqual(b"here\n", self.connect("east")[0])
        self.assertEqual(0, self.rule({"from": "east", "to": "", "delay": 0.2}, {"from": "west", "to": "", "lost": True})["lost"])
        received, seconds = self.connect("east")
        self.assertEqual(b"here\n", received)
        # The response to the first packet, and the data that follows.
        self.assertGreaterEqual(seconds, 0.2)
        for lost in ({"from": "", "to": "east"}, {"from": "east", "to": ""}):
            self.assertGreater(self.rule({**lost, "lost": True})["late"], 0)
            with self.subTest(lost), self.assertRaises(TimeoutError):
                self.connect("east", timeout=0.3)
        counts = self.rule()
        self.assertGreaterEqual(counts["lost"], 2)
        self.assertEqual(b"here\n", self.connect("east")[0])

    def test_exit_removes_network(self):
        process = self.start_server("west")
        self.assertEqual({f"{self.prefix}-east", f"{self.prefix}-west"}, {name for name in spaces() if name.startswith(self.prefix)})
        self.assertEqual(0, self.end())
        self.assertEqual(-signal.SIGKILL, process.wait())
        self.assertEqual(set(), {name for name in spaces() if name.startswith(self.prefix)})

    def test_signal_removes_network(self):
        self.network.send_signal(signal.SIGTERM)
        self.assertEqual(1, self.network.wait())
        self.assertEqual(set(), {name for name in spaces() if name.startswith(self.prefix)})

    def refused(self, line):
        self.network.stdin.write(f"{line}\n")
        self.network.stdin.flush()
        self.assertEqual(1, self.network.wait())
        return self.network.stderr.read()

    def test_incomplete_rule_is_rejected(self):
        self.assertEqual('network: a rule has from, to, and lost or delay: {"from": "east", "to": "west"}\n', self.refused('[{"from": "east", "to": "west"}]'))

    def test_rule_with_unknown_name_is_rejected(self):
        self.assertIn("network: a rule is about east, west and the empty name: ", self.refused('[{"from": "east", "to": "north", "lost": true}]'))

    def test_invalid_json_line_is_rejected(self):
        self.assertIn("network: ", self.refused("["))


class Help(unittest.TestCase):
    def test_help_prints_usage(self):
        for arguments, code in ((["--help"], 0), ([], 64), (["only"], 64)):
            done = subprocess.run([NETWORK, *arguments], capture_output=True, text=True)
            self.assertEqual((code, "usage:"), (done.returncode, done.stdout[:6]))


if __name__ == "__main__":
    unittest.main()
