"""Reads the rounds of `run` and prints the medians of each server in each shape, and of its ratios to the last server
in the same round. Rounds that something disturbed are left out, unless all were."""

import json
import statistics
import sys

shapes = {}
for line in sys.stdin:
    entry = json.loads(line)
    shapes.setdefault(entry["shape"], {}).setdefault(entry["name"], []).append(entry["figures"])


def rate(figures):
    return figures["msgs_per_s"]


def cost(figures):
    """User and system time of a call, in µs."""
    return figures["server_cpu"] / figures["msgs_per_s"] * 1e6


print(f"{'connections×in flight':24}{'server':14}{'calls/s':>12}{'ratio':>8}{'CPU µs/call':>13}{'ratio':>8}{'rounds':>8}")
for shape, servers in shapes.items():
    rounds = list(zip(*servers.values()))
    calm = [turn for turn in rounds if all(f.get("other_cpu", 0) < 0.08 for f in turn)] or rounds
    for place, name in enumerate(servers):
        row = f"{shape:24}{name:14}"
        for figure, width, digits in ((rate, 12, 0), (cost, 13, 3)):
            median = statistics.median(figure(turn[place]) for turn in calm)
            ratio = statistics.median(figure(turn[place]) / figure(turn[-1]) for turn in calm)
            row += f"{median:>{width},.{digits}f}{ratio:>8.3f}"
        print(f"{row}{len(calm):>8}")
