"""Reads the lines of `Lookup` and prints the medians: a row for each figure, a column for each number of routes."""

import statistics
import sys

figures = {}
counts = []
for line in sys.stdin:
    count, what, unit, figure = line.rstrip("\n").split("\t")
    if count not in counts:
        counts.append(count)
    figures.setdefault((what, unit), {}).setdefault(count, []).append(float(figure))

print(f"{'routes':46}{'':>6}" + "".join(f"{int(count):>12,}" for count in counts))
for (what, unit), rounds in figures.items():
    medians = [statistics.median(rounds[count]) for count in counts]
    print(f"{what:46}{unit:>6}" + "".join(f"{m:>12,.{2 if m < 10 else 0}f}" for m in medians))
