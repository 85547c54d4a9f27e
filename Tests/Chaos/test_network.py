"""The network of tests' own, Tests/Chaos/network: what passes, is lost and is late, and that nothing of it stays."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import time
import unittest

NETWORK = pathlib.Path(__file__).with_name("network")
# Answers each connection with a line, from within a namespace; its first line says that it listens.
ANSWERER = """
import socket
with socket.create_server(("", 7000)) as server:
    print("listening", flush=True)
    while True:
        connection, _ = server.accept()
        connection.sendall(b"here\\n")
        connection.close()
"""


def refusal():
    """Why there can be no network here; None where there can."""
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

    def answerer(self, name):
        command = ["ip", "netns", "exec", f"{self.prefix}-{name}", "/usr/bin/python3", "-c", ANSWERER]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual("listening\n", process.stdout.readline())
        return process

    def ask(self, name, patience=10):
        """What is heard from a name, and the seconds until then."""
        began = time.monotonic()
        with socket.create_connection((self.addresses[name], 7000), timeout=patience) as connection:
            return connection.recv(16), time.monotonic() - began

    def rule(self, *rules):
        self.network.stdin.write(json.dumps(rules) + "\n")
        self.network.stdin.flush()
        return json.loads(self.network.stdout.readline())

    def test_what_passes_is_lost_and_is_late(self):
        self.answerer("east")
        self.assertEqual(b"here\n", self.ask("east")[0])
        self.assertEqual(0, self.rule({"from": "east", "to": "", "delay": 0.2}, {"from": "west", "to": "", "lost": True})["lost"])
        heard, seconds = self.ask("east")
        self.assertEqual(b"here\n", heard)
        # The answer to the first packet, and what is said then.
        self.assertGreaterEqual(seconds, 0.2)
        self.assertLess(seconds, 5)
        for lost in ({"from": "", "to": "east"}, {"from": "east", "to": ""}):
            self.assertGreater(self.rule({**lost, "lost": True})["late"], 0)
            with self.subTest(lost), self.assertRaises(TimeoutError):
                self.ask("east", patience=0.3)
        counts = self.rule()
        self.assertGreaterEqual(counts["lost"], 2)
        self.assertEqual(b"here\n", self.ask("east")[0])

    def test_nothing_of_it_stays(self):
        process = self.answerer("west")
        self.assertEqual({f"{self.prefix}-east", f"{self.prefix}-west"}, {name for name in spaces() if name.startswith(self.prefix)})
        self.assertEqual(0, self.end())
        self.assertEqual(-signal.SIGKILL, process.wait())
        self.assertEqual(set(), {name for name in spaces() if name.startswith(self.prefix)})

    def test_nothing_of_one_stays_that_is_ended_by_a_signal(self):
        self.network.send_signal(signal.SIGTERM)
        self.assertEqual(1, self.network.wait())
        self.assertEqual(set(), {name for name in spaces() if name.startswith(self.prefix)})

    def refused(self, line):
        self.network.stdin.write(f"{line}\n")
        self.network.stdin.flush()
        self.assertEqual(1, self.network.wait())
        return self.network.stderr.read()

    def test_what_is_no_rule(self):
        self.assertEqual('network: a rule has from, to, and lost or delay: {"from": "east", "to": "west"}\n', self.refused('[{"from": "east", "to": "west"}]'))

    def test_a_rule_about_somebody_else(self):
        self.assertIn("network: a rule is about east, west and the empty name: ", self.refused('[{"from": "east", "to": "north", "lost": true}]'))

    def test_a_line_that_is_no_json(self):
        self.assertIn("network: ", self.refused("["))


class Help(unittest.TestCase):
    def test_usage(self):
        for arguments, code in ((["--help"], 0), ([], 64), (["only"], 64)):
            done = subprocess.run([NETWORK, *arguments], capture_output=True, text=True)
            self.assertEqual((code, "usage:"), (done.returncode, done.stdout[:6]))


if __name__ == "__main__":
    unittest.main()
