"""`/metrics`: what Prometheus reads."""

import math
import re
import unittest

from command import Server
from test_serve import get
from websocket import WebSocket

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
    """Buckets rise, the last is +Inf and equals the count."""
    rows = {}
    for labels, value in samples[name + "_bucket"].items():
        rest = tuple(label for label in labels if label[0] != "le")
        rows.setdefault(rest, []).append((float(dict(labels)["le"]), value))
    for rest, buckets in rows.items():
        if buckets != sorted(buckets) or [count for _, count in buckets] != sorted(count for _, count in buckets):
            raise ValueError(f"the buckets of {name} {rest} do not rise")
        if buckets[-1] != (math.inf, samples[name + "_count"][rest]) or rest not in samples[name + "_sum"]:
            raise ValueError(f"{name} {rest}: the bucket +Inf is not the count, or there is no sum")


class Metrics(unittest.TestCase):
    def test_the_text_is_strictly_of_the_format_and_counts_calls(self):
        with Server("serve", "--port", "0", "--conformance") as server, WebSocket(server.port) as client:
            for identity in range(3):
                client.send({"jsonrpc": "2.0", "id": identity, "method": "router.invoke", "params": {"uri": "action://echo"}})
                client.receive()
            samples, types = parse(get(server.address + "/metrics")[1])
        self.assertEqual(3, samples["waybridge_calls_total"][(("method", "router.invoke"), ("outcome", "ok"))])
        self.assertEqual(3, samples["waybridge_call_duration_seconds_count"][(("method", "router.invoke"),)])
        self.assertEqual("histogram", types["waybridge_call_duration_seconds"])
        self.assertEqual(1, samples["waybridge_sessions"][()])

    def test_clients_cannot_make_the_labels_grow(self):
        with Server("serve", "--port", "0") as server, WebSocket(server.port) as client:
            before = None
            for name in ("a", 'b"\n', "ü", "x" * 1000):
                client.send({"jsonrpc": "2.0", "id": 1, "method": name})
                client.receive()
                after = {name: set(rows) for name, rows in parse(get(server.address + "/metrics")[1])[0].items()}
                self.assertEqual(before or after, after)
                before = after
