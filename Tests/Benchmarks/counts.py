"""What is made of counted instructions: the figure of several counts, and how it compares with the one that is kept."""

import statistics
from dataclasses import dataclass

# How much more than what is kept a call may take, and how much less before it is time to keep that.
ALLOWED = 0.03


@dataclass(frozen=True)
class Count:
    """Instructions a call: the median of several counts, and what lies between the least and the most, as a part of it."""

    median: int
    spread: float

    @classmethod
    def of(cls, counts):
        median = statistics.median(counts)
        return cls(round(median), (max(counts) - min(counts)) / median)


@dataclass(frozen=True)
class Comparison:
    """A line for each kind, and whether one takes too much, or more than ALLOWED less."""

    lines: list
    has_failed: bool
    is_outdated: bool


def compare(kept, found):
    """Compares counts, both `{kind: Instructions}`. A kind of which nothing is kept fails; one that was not counted does not."""
    lines, failed, outdated = [], False, False
    for kind, count in found.items():
        if kind not in kept:
            lines.append(f"{kind}: {count:,}, and none is kept  FAILED")
            failed = True
            continue
        change = count / kept[kind] - 1
        verdict = ""
        if change > ALLOWED:
            verdict, failed = f"  FAILED: more than {ALLOWED:.0%} up", True
        elif change < -ALLOWED:
            verdict, outdated = f"  more than {ALLOWED:.0%} down", True
        lines.append(f"{kind}: {count:,}, kept {kept[kind]:,} ({change:+.1%}){verdict}")
    return Comparison(lines, failed, outdated)


def differing(kept, found):
    """What differs of the conditions under which counts were taken, both `{name: value}`, as texts."""
    return [
        f"{name} was {kept.get(name, 'unknown')} and is {value}" for name, value in found.items() if kept.get(name) != value
    ]


def table(kept, about):
    """What is kept, `{kind: instructions}`, as Markdown; `about` tells what each kind is."""
    lines = ["| kind | what | instructions a call |", "|---|---|---:|"]
    return "\n".join(lines + [f"| {kind} | {text} | {kept[kind]:,} |" for kind, text in about.items()])
