"""`/metrics`, as Prometheus parses it."""

import contextlib
import http.client
import math
import os
import re
import resource
import time
import unittest
import urllib.error
import urllib.request

from command import Server, run
from test_serve import get
from rawsocket import WebSocket

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"'
SAMPLE = re.compile(rf"({NAME})(?:{{((?:{LABEL})(?:,{LABEL})*)}})? (\S+)")


def parse(text):
    """Reads the text format 0.0.4 strictly: {name: {labels: value}} of samples, {name: type} of families."""
    if not text.endswith("\n"):
        raise ValueError("the last line does not end")
    samples, types, helped, family = {}, {}, set(), None
    for line in text[:-1].split("\n"):
        if match := re.fullmatch(rf"# HELP ({NAME}) (?:[^\\]|\\\\|\\n)*", line):
            if match[1] in helped:
                raise ValueError(f"a second HELP: {line}")
            helped.add(match[1])
        elif match := re.fullmatch(rf"# TYPE ({NAME}) (counter|gauge|histogram|summary|untyped)", line):
            family, kind = match.groups()
            if family in types or family not in helped:
                raise ValueError(f"TYPE twice, or without HELP before: {line}")
            types[family] = kind
        elif match := SAMPLE.fullmatch(line):
            suffixes = ("_bucket", "_sum", "_count") if types.get(family) == "histogram" else ("",)
            if family is None or match[1] not in [family + suffix for suffix in suffixes]:
                raise ValueError(f"not of the family {family}: {line}")
            labels = re.findall(LABEL, match[2] or "")
            if len(dict(labels)) != len(labels):
                raise ValueError(f"a label twice: {line}")
            key = tuple(sorted(labels))
            if key in samples.setdefault(match[1], {}):
                raise ValueError(f"a sample twice: {line}")
            samples[match[1]][key] = float(match[len(match.groups())])
        else:
            raise ValueError(f"no line of the format: {line!r}")
    for name in (name for name, kind in types.items() if kind == "histogram"):
        check_histogram(name, samples)
    return samples, types


def check_histogram(name, samples):
    """Buckets increase; the last is +Inf and equals the count."""
    rows = {}
    for labels, value in samples[name + "_bucket"].items():
        rest = tuple(label for label in labels if label[0] != "le")
        rows.setdefault(rest, []).append((float(dict(labels)["le"]), value))
    for rest, buckets in rows.items():
        if buckets != sorted(buckets) or [count for _, count in buckets] != sorted(count for _, count in buckets):
            raise ValueError(f"the buckets of {name} {rest} do not rise")
        if buckets[-1] != (math.inf, samples[name + "_count"][rest]) or rest not in samples[name + "_sum"]:
            raise ValueError(f"{name} {rest}: the bucket +Inf is not the count, or there is no sum")


def status(url, headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=20) as response:
            return response.status
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code


def handshake(server, headers):
    """The status that a WebSocket handshake with these fields gets."""
    fields = {
        "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }  # fmt: skip
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    try:
        connection.request("GET", "/bridge", headers=fields | headers)
        return connection.getresponse().status
    finally:
        connection.close()


class Metrics(unittest.TestCase):
    def test_output_is_valid_and_counts_calls(self):
        with Server("serve", "--port", "0", "--conformance") as server, WebSocket(server.port) as client:
            for identity in range(3):
                client.send({"jsonrpc": "2.0", "id": identity, "method": "router.invoke", "params": {"uri": "action://echo"}})
                client.receive()
            samples, types = parse(get(server.address + "/metrics")[1])
        self.assertEqual(3, samples["waybridge_calls_total"][(("method", "router.invoke"), ("outcome", "ok"))])
        self.assertEqual(3, samples["waybridge_call_duration_seconds_count"][(("method", "router.invoke"),)])
        self.assertEqual("histogram", types["waybridge_call_duration_seconds"])
        for name in ("waybridge_sessions", "waybridge_clients", "waybridge_connections"):
            self.assertEqual({(): 1}, samples[name])
        for name in ("hosts", "pages", "calls_in_flight", "pending_requests", "queue_bytes"):
            self.assertEqual({(): 0}, samples["waybridge_" + name])
        self.assertEqual({(("direction", "in"),): 3, (("direction", "out"),): 3}, samples["waybridge_messages_total"])
        self.assertIn("waybridge_loop_lag_seconds", types)

    def test_each_loop_has_metrics(self):
        with Server("serve", "--port", "0", "--conformance", "--loops", "3") as server, contextlib.ExitStack() as held:
            for _ in range(6):
                client = held.enter_context(WebSocket(server.port))
                client.send({"jsonrpc": "2.0", "id": 1, "method": "router.invoke", "params": {"uri": "action://echo"}})
                client.receive()
            samples, _ = parse(get(server.address + "/metrics")[1])
        loops = {(("loop", str(number)),): 2 for number in range(3)}
        for name in ("sessions", "connections", "calls_total"):
            self.assertEqual(loops, samples["waybridge_loop_" + name])
        self.assertEqual({(): 6}, samples["waybridge_sessions"])
        self.assertEqual(set(loops), set(samples["waybridge_loop_lag_seconds_count"]))

    def test_process_metrics_are_served(self):
        with Server("serve", "--port", "0") as server:
            samples, _ = parse(get(server.address + "/metrics")[1])
        self.assertLess(abs(samples["process_start_time_seconds"][()] - time.time()), 60)
        self.assertGreater(samples["process_resident_memory_bytes"][()], 1 << 20)
        self.assertGreater(samples["process_virtual_memory_bytes"][()], samples["process_resident_memory_bytes"][()])
        self.assertGreater(samples["process_cpu_seconds_total"][()], 0)

    def test_descriptor_count_matches_kernel(self):
        with Server("serve", "--port", "0", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (999, 999))) as server:
            with WebSocket(server.port), WebSocket(server.port):
                # The connection of an earlier request, which is counted, may still be closing.
                until = time.monotonic() + 10
                while True:
                    samples, _ = parse(get(server.address + "/metrics")[1])
                    known = len(os.listdir(f"/proc/{server.process.pid}/fd")) + 1
                    if samples["process_open_fds"] == {(): known} or time.monotonic() > until:
                        break
        self.assertEqual({(): 999}, samples["process_max_fds"])
        self.assertEqual({(): known}, samples["process_open_fds"])

    def test_build_info_is_served(self):
        with Server("serve", "--port", "0") as server:
            samples, types = parse(get(server.address + "/metrics")[1])
        ((labels, value),) = samples["waybridge_build_info"].items()
        version, commit = re.fullmatch(r"waybridge (\S+) \(commit (\S+)\)\n", run("--version")[1]).groups()
        self.assertEqual((1, "gauge"), (value, types["waybridge_build_info"]))
        self.assertEqual((version, commit), (dict(labels)["version"], dict(labels)["commit"]))
        self.assertRegex(dict(labels)["swift"], r"^\d+\.\d+\.\d+$")

    def test_rejected_handshakes_are_counted_by_reason(self):
        with Server("serve", "--port", "0") as server:
            for headers in (
                {"Origin": "https://evil.example"}, {"Host": "evil.example"}, {"X-Forwarded-For": "192.0.2.1"},
                {"Sec-WebSocket-Version": "12"},
            ):  # fmt: skip
                self.assertGreaterEqual(handshake(server, headers), 400)
            self.assertEqual(403, status(server.address + "/metrics", {"Host": "evil.example"}))
            samples, _ = parse(get(server.address + "/metrics")[1])
        once = {"origin", "host", "proxy", "handshake"}
        handshakes = {dict(labels)["reason"]: count for labels, count in samples["waybridge_refused_handshakes_total"].items()}
        self.assertEqual(dict.fromkeys(once, 1), {reason: count for reason, count in handshakes.items() if count})
        refusals = {dict(labels)["reason"]: count for labels, count in samples["waybridge_refusals_total"].items()}
        self.assertEqual(set(handshakes), set(refusals))
        self.assertEqual({**dict.fromkeys(once, 1), "host": 2}, {reason: count for reason, count in refusals.items() if count})

    def test_closes_are_counted_by_known_code(self):
        with Server("serve", "--port", "0") as server:
            for code in (1000, 1000, 3333, 4999):
                with WebSocket(server.port) as client:
                    client.send(code)
                    self.assertEqual(code, client.receive())
            samples, _ = parse(get(server.address + "/metrics")[1])
        self.assertEqual({(("code", "1000"),): 2, (("code", "other"),): 2}, samples["waybridge_closes_total"])

    def test_metrics_reject_other_hosts(self):
        with Server("serve", "--port", "0") as server:
            request = urllib.request.Request(server.address + "/metrics", headers={"Host": "example.org"})
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(request, timeout=20)
            with refused.exception as response:
                self.assertEqual(403, response.code)

    def test_clients_cannot_add_label_values(self):
        with Server("serve", "--port", "0") as server, WebSocket(server.port) as client:
            before = None
            for name in ("a", 'b"\n', "ü", "x" * 1000):
                client.send({"jsonrpc": "2.0", "id": 1, "method": name})
                client.receive()
                after = {name: set(rows) for name, rows in parse(get(server.address + "/metrics")[1])[0].items()}
                self.assertEqual(before or after, after)
                before = after


if __name__ == "__main__":
    unittest.main()
