"""Wording: what readers and maintainers read uses plain sentences with an actor and the terms of the field.

The rules are a list of words, so a hit is a place to look at, and a text without hits can still be unclear. Run this file with
--list to see all hits.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

from readme import ROOT, project_files

# The most hits in 1,000 lines.
MAX_IN_TEXTS, MAX_IN_COMMENTS = 10, 20

RULES = {
    name: re.compile(pattern, re.M)
    for name, pattern in {
        "a bare who or whose": r"(?:^|[.;:,(] |\b(?:and|or|that|to|of|for|by|from|with|tells|says|see|knows) )(?:[Ww]ho(?:ever)?|[Ww]hose) (?!(?:am|are) (?:you|we)\b)",
        "a sentence that begins with what, where, who or as": r"(?:^|[.] )(?:What|Where|Who|Whose|Whoever|As) (?!is Waybridge|it is|next|to )",
        "no actor": r"\b(?:somebody|nobody|anybody|whoever|whatever|whom)\b",
        "a vague passive": r"\b(?:is|are|was|were|be|been) (?:told|asked|taken|had|said|heard|let in|gone around)\b",
        "a metaphor of motion": r"\b(?:comes? in|came in|lets? in|goes on|go on|went on|carries on|carried on|stands? (?:there|in|beside|for itself))\b",
        "an archaism": r"\b(?:anew|for ever|in the place of|shall|of late|save inside|save in|besides,|as it were|be it)\b",
        "a person for a program": r"\b(?:he|his|him|she|her)\b",
        "where for if or when": r"(?:^|[,;(] |\bthan |\bbut )where (?:there is|it is|that is|one is|none|no |nothing|they are|this is)",
    }.items()
}
CODE = re.compile(r"```.*?```|`[^`]*`|<!--.*?-->", re.S)
SLASHES = re.compile(r"\s*(?:///?|\*|/\*\*?)\s?(.*)")
HASH = re.compile(r"\s*#\s?(.*)")
STRING = re.compile(r'"((?:[^"\\]|\\.){12,})"')
DESCRIPTION = re.compile(r'\s*"(?:description|summary|title|purpose|meaning|text|what)"\s*:\s*"(.*)"')
SCRIPTS = {".swift", ".js", ".mjs", ".ts", ".dart", ".c", ".h"}


def tracked():
    """The project's files that people write, by their paths from its root."""
    return [path for path in project_files() if not {"vectors", "Golden"} & set(path.parts)]


def markdown(path):
    text = CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), (ROOT / path).read_text())
    return [(path, number, line.strip(" |#*-")) for number, line in enumerate(text.split("\n"), 1)]


def matching(path, pattern):
    """The first group of each line that matches, without code."""
    lines = (ROOT / path).read_text(errors="replace").split("\n")
    found = [(number, pattern.match(line)) for number, line in enumerate(lines, 1)]
    return [(path, number, CODE.sub(" ", match[1])) for number, match in found if match]


def messages(path):
    """String literals of several words."""
    lines = (ROOT / path).read_text().split("\n")
    return [(path, number, text) for number, line in enumerate(lines, 1) if not SLASHES.match(line) for text in STRING.findall(line) if " " in text]


def help_texts():
    """The help of all commands and options."""
    dump = subprocess.run([os.environ["WAYBRIDGE"], "--experimental-dump-help"], check=True, stdout=subprocess.PIPE, text=True).stdout

    def walk(value):
        if isinstance(value, dict):
            for name, inner in value.items():
                if name in ("abstract", "discussion") and isinstance(inner, str):
                    yield from inner.split("\n")
                else:
                    yield from walk(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from walk(inner)

    return [(pathlib.Path("help"), number, CODE.sub(" ", line)) for number, line in enumerate(walk(json.loads(dump)), 1)]


def texts():
    """What users read: documents, descriptions of the protocol, help, messages, and the documentation of public symbols."""
    for path in tracked():
        if path.suffix == ".md":
            yield from markdown(path)
        elif path.suffix == ".json" and path.parts[0] == "protocol":
            yield from matching(path, DESCRIPTION)
        elif path.suffix in SCRIPTS and path.parts[0] in ("Sources", "web") and "test" not in path.parts:
            yield from messages(path)
            if path.parts[1] in ("Waybridge", "WaybridgeClient", "WaybridgeCluster", "WaybridgeTesting", "WaybridgeTokens", "WaybridgeTables", "bridge", "dart", "flutter"):
                yield from matching(path, SLASHES)
    yield from help_texts()


def comments():
    """All comments but those of WaySession, which its redesign rewrites."""
    for path in tracked():
        if "WaySession" in path.parts:
            continue
        if path.suffix in SCRIPTS:
            yield from matching(path, SLASHES)
        elif path.suffix == ".py" or (not path.suffix and (ROOT / path).read_bytes().startswith(b"#!")):
            yield from matching(path, HASH)


def hits(lines):
    return [f"{path}:{number}: {rule}: {line.strip()}" for path, number, line in lines for rule, pattern in RULES.items() for _ in pattern.finditer(line)]


class ProseTests(unittest.TestCase):
    maxDiff = None

    def check(self, lines, most):
        lines = list(lines)
        count = sum(len(text) > 20 for _, _, text in lines)
        self.assertGreater(count, 1000, "texts were found")
        found = hits(lines)
        self.assertLessEqual(len(found) * 1000 / count, most, f"{len(found)} hits in {count} lines:\n" + "\n".join(found[:100]))

    def test_texts_for_users_follow_the_style(self):
        self.check(texts(), MAX_IN_TEXTS)

    def test_comments_follow_the_style(self):
        self.check(comments(), MAX_IN_COMMENTS)

    def test_rules_find_what_they_name(self):
        for line, rule in [
            ("Who has no token is rejected", "a bare who or whose"),
            ("The table tells who may call", "a bare who or whose"),
            ("What the server sends is stored", "a sentence that begins with what, where, who or as"),
            ("nobody may call it", "no actor"),
            ("the server is told of it", "a vague passive"),
            ("a client comes in", "a metaphor of motion"),
            ("the page is drawn anew", "an archaism"),
            ("the client and his session", "a person for a program"),
            ("Fails, where there is no route", "where for if or when"),
        ]:
            self.assertIn(rule, {hit.split(": ")[1] for hit in hits([("text", 1, line)])}, line)
        for line in ("The server rejects a client without a token", "If the file is missing, the server stops", "Where it is stored is up to the app"):
            self.assertEqual([], hits([("text", 1, line)]))


if __name__ == "__main__" and "--list" in sys.argv:
    print("\n".join(hits([*texts(), *comments()])))
elif __name__ == "__main__":
    unittest.main()
