"""Evaluates the rounds of `run`: which of them count, medians and ranges, and the table.

A turn is the measurement of one shape in one round, `{"shape": …, "round": …, "figures": {server: …}}`, with the figures
of `wsload -j` for each server. They were measured one after another, so each turn is a comparison of its own."""

import statistics
from dataclasses import dataclass

# Part of one core that other programs may use, or the host may take away, before a turn does not count.
MAX_OTHER_LOAD = 0.08


@dataclass(frozen=True)
class Spread:
    """The median of some rounds, with the minimum and the maximum."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values):
        values = list(values)
        return cls(statistics.median(values), min(values), max(values))


@dataclass(frozen=True)
class Row:
    """A server in a shape: processor time per call in µs, calls a second, the ratio of its processor time to that of the reference in
    the same turn, and the durations of calls in µs."""

    shape: str
    server: str
    cost: Spread
    rate: Spread
    ratio: Spread
    p50: Spread
    p99: Spread
    p999: Spread


@dataclass(frozen=True)
class Shape:
    """The results of a shape: its rows, the number of turns that count, and the number that were discarded as disturbed."""

    name: str
    rows: list
    counted: int
    disturbed: int

    @property
    def is_all_disturbed(self):
        """All turns were disturbed, so that all count."""
        return self.disturbed > 0 and self.counted == self.disturbed


def cost(figures):
    """The server's processor time of a call, user and system, in µs."""
    return figures["server_cpu"] / figures["msgs_per_s"] * 1e6


def other_load(turn):
    """Maximum part of a core that other programs used, or the host took away, while a server of the turn was measured."""
    return max(max(each["other_cpu"], 0) + each["steal"] for each in turn["figures"].values())


def is_disturbed(turn):
    return other_load(turn) >= MAX_OTHER_LOAD


def undisturbed_count(turns, shape):
    """The number of undisturbed turns of a shape."""
    return sum(not is_disturbed(turn) for turn in turns if turn["shape"] == shape)


def summary(turns, reference):
    """The shapes, in the order in which they were first measured; ratios are to the server `reference`."""
    shapes = []
    for name in dict.fromkeys(turn["shape"] for turn in turns):
        all_turns = [turn for turn in turns if turn["shape"] == name]
        calm = [turn for turn in all_turns if not is_disturbed(turn)]
        counted = calm or all_turns
        rows = [
            row(name, server, [(turn["figures"][server], turn["figures"][reference]) for turn in counted])
            for server in sorted(counted[0]["figures"], key=list(turns[0]["figures"]).index)
        ]
        shapes.append(Shape(name, rows, len(counted), len(all_turns) - len(calm)))
    return shapes


def row(shape, server, pairs):
    """The row of a server; `pairs` has the figures of its rounds, each with those of the reference."""
    own = [figures for figures, _ in pairs]
    latency = {name: Spread.of(each["us"][name] for each in own) for name in ("p50", "p99", "p999")}
    return Row(
        shape, server, Spread.of(cost(each) for each in own), Spread.of(each["msgs_per_s"] for each in own),
        Spread.of(cost(each) / cost(other) for each, other in pairs), **latency,
    )


def number(value):
    """At least three digits, in a readable form: 0.123, 2.15, 31.4, 359,181."""
    digits = 3 if value < 1 else 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:,.{digits}f}"


def spread(value):
    return f"{number(value.median)} ({number(value.low)}–{number(value.high)})"


def table(shapes):
    """The table, as Markdown."""
    lines = [
        "| connections×in flight | server | CPU µs/call | ratio | calls/s | p50 µs | p99 µs | p99.9 µs |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for shape in shapes:
        for each in shape.rows:
            latency = " | ".join(number(value.median) for value in (each.p50, each.p99, each.p999))
            lines.append(
                f"| {each.shape} | {each.server} | {spread(each.cost)} | {each.ratio.median:.2f} | {spread(each.rate)} | {latency} |"
            )
    return "\n".join(lines)


def remarks(shapes, seconds, reference):
    """The notes on the table."""
    counts = sorted({shape.counted for shape in shapes})
    rounds = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    lines = [
        f"Medians of {rounds} rounds of {seconds:g} s, with the least and the most in brackets; ratios are of the processor "
        f"time, to {reference} in the same round."
    ]
    thrown = [f"{shape.disturbed} at {shape.name}" for shape in shapes if shape.disturbed and not shape.is_all_disturbed]
    limit = f"{MAX_OTHER_LOAD:.0%} of a core".replace("%", " %")
    lines.append(
        f"Thrown away, since something else used {limit} or more: {', '.join(thrown)}." if thrown else "No round was thrown away."
    )
    whole = [shape.name for shape in shapes if shape.is_all_disturbed]
    if whole:
        lines.append(f"Something else used {limit} or more in every round at {', '.join(whole)}: these figures are disturbed.")
    return " ".join(lines)
