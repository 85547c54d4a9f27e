"""Evaluates counted instructions: the figure of several counts, and its comparison with the stored one."""

from dataclasses import dataclass

# How much more than the stored figure a call may take, and how much less before the stored figure has to be updated.
ALLOWED = 0.03
# How much the two least counts may differ.
AGREED = 0.01


@dataclass(frozen=True)
class Count:
    """Instructions of a call: the least of several counts, and the range relative to it.

    Other work on the machine only adds instructions: work that is limited in time, such as the visits of many sessions in a
    turn of the loop, then takes more turns."""

    least: int
    spread: float

    @classmethod
    def of(cls, counts):
        least = min(counts)
        return cls(round(least), (max(counts) - least) / least)


def is_disturbed(counts):
    """Whether the least of several counts has no other one that is about the same."""
    least, *others = sorted(counts)
    return bool(others) and others[0] > least * (1 + AGREED)


@dataclass(frozen=True)
class Comparison:
    """A line for each kind, and whether one takes too much, or is lower by more than ALLOWED."""

    lines: list
    has_failed: bool
    is_outdated: bool


def compare(kept, found):
    """Compares counts, both `{kind: Instructions}`. A kind without a stored figure fails; one that was not counted does not."""
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
    """The differences of the conditions of two counts, both `{name: value}`, as texts."""
    return [
        f"{name} was {kept.get(name, 'unknown')} and is {value}" for name, value in found.items() if kept.get(name) != value
    ]


def table(kept, about):
    """The stored figures, `{kind: instructions}`, as Markdown; `about` describes each kind."""
    lines = ["| kind | what | instructions a call |", "|---|---|---:|"]
    return "\n".join(lines + [f"| {kind} | {text} | {kept[kind]:,} |" for kind, text in about.items()])
