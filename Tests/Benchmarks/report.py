"""Reads the rounds of `run` and prints medians and the ratio of each shape. Rounds that something disturbed are left out."""

import json
import statistics
import sys

rounds = {}
for line in sys.stdin:
    entry = json.loads(line)
    shape = rounds.setdefault(entry["shape"], {})
    shape.setdefault(entry["name"], []).append(entry["figures"])

print(f"{'connections×in flight':24}{'waybridge/s':>14}{'plain peer/s':>14}{'ratio':>8}{'rounds':>8}")
for shape, names in rounds.items():
    rates = {}
    kept = 0
    for name, figures in names.items():
        calm = [f for f in figures if f.get("other_cpu", 0) < 0.08] or figures
        kept = len(calm)
        rates[name] = statistics.median(f["msgs_per_s"] for f in calm)
    ratio = rates["waybridge"] / rates["peer"]
    print(f"{shape:24}{rates['waybridge']:>14,.0f}{rates['peer']:>14,.0f}{ratio:>8.2f}{kept:>8}")
