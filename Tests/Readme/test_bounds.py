"""The bounds of the core's structure. A bound that is not reached yet is listed, until it is reached."""

import collections
import re
import unittest

from readme import ROOT
from test_sources import TYPE, code

SOURCES = ROOT / "Sources"
FILES = {path: path.read_text() for path in sorted(SOURCES.rglob("*.swift"))}
SESSION = SOURCES / "WaySession"

# Bounds that are exceeded now. A test fails if one of them is reached and still listed.
EXCEEDED = {
    "lines of code", "files", "files of more than 300 lines",
}  # fmt: skip


def is_code(line):
    """Whether a line is neither empty nor a comment."""
    line = line.strip()
    return line != "" and not line.startswith("//")


def owner(path):
    """The type of a file: a file of extensions belongs to the file of its type."""
    return path.stem.partition("+")[0]


def named_types(target):
    """Which types of a target the others name, by the files' types."""
    files = [path for path in FILES if path.is_relative_to(SOURCES / target)]
    declared = collections.defaultdict(set)
    for path in files:
        for name in TYPE.findall(FILES[path]):
            declared[name].add(owner(path))
    named = collections.defaultdict(set)
    for path in files:
        for name in set(re.findall(r"\b[A-Z]\w*\b", code(path))):
            named[owner(path)] |= declared.get(name, set()) - {owner(path)}
    return named


def reachable(named, start):
    found, waiting = set(), [start]
    while waiting:
        for name in named.get(waiting.pop(), ()):
            if name not in found:
                found.add(name)
                waiting.append(name)
    return found


def largest_circle(target):
    """The number of files that all name one another, directly or by others."""
    named = named_types(target)
    reached = {name: reachable(named, name) for name in named}
    return max((sum(name in reached.get(other, ()) for other in reached[name]) for name in named if name in reached[name]), default=0)


def count(pattern, paths=FILES):
    return sum(len(re.findall(pattern, code(path))) for path in paths)


def functions_in_session():
    """Functions that act on a session's state from another type, apart from those of its methods."""
    outside = [path for path in FILES if path.is_relative_to(SESSION) and owner(path) != "Session" and "Methods" not in path.parts]
    return count(r"\bfunc [^{]*?isolated Session\b", outside)


def lines(path):
    return FILES[path].count("\n")


BOUNDS = {
    "files in the largest circle of WaySession": (8, lambda: largest_circle("WaySession")),
    "files in the largest circle of WayRouting": (8, lambda: largest_circle("WayRouting")),
    "files in the largest circle of WaybridgeClient": (8, lambda: largest_circle("WaybridgeClient")),
    "functions that act in a session from outside": (0, functions_in_session),
    "lines of Connection.swift": (250, lambda: max(lines(path) for path in FILES if path.name == "Connection.swift")),
    "handwritten coding sites": (500, lambda: count(r"\.string\(|\?\.string\b")),
    "lines of code": (42_000, lambda: sum(sum(map(is_code, text.splitlines())) for text in FILES.values())),
    "files": (480, lambda: len(FILES)),
    "files of fewer than 25 lines": (40, lambda: sum(lines(path) < 25 for path in FILES)),
    "files of more than 300 lines": (6, lambda: sum(lines(path) > 300 for path in FILES)),
}  # fmt: skip


class BoundTests(unittest.TestCase):
    def test_bounds_of_structure_are_kept(self):
        for name, (bound, measure) in BOUNDS.items():
            with self.subTest(name):
                if name in EXCEEDED:
                    self.assertGreater(measure(), bound, f"the bound for {name} is reached: remove it from EXCEEDED")
                else:
                    self.assertLessEqual(measure(), bound, name)


if __name__ == "__main__":
    for name, (bound, measure) in BOUNDS.items():
        print(f"{measure():6}  {bound:6}  {name}")
