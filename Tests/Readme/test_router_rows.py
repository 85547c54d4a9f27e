"""web/docs, coming from another router: each API of a router has a row, and the code of each row runs.

`routers/apis.json` has the APIs, and the rows that name a difference and so have no code. The code of the other rows is in
`routers/PAGE.mjs`, which runs here, and in Tests/WaybridgeTestingTests/OtherRouters, which runs with the Swift tests. All code that a row
shows has to be in it.
"""

import functools
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from readme import ROOT, fenced

WAYBRIDGE = os.environ.get("WAYBRIDGE")
if not WAYBRIDGE:
    raise RuntimeError("WAYBRIDGE must hold the path of the waybridge executable")

ROUTERS = ROOT / "Tests/Readme/routers"
SWIFT = ROOT / "Tests/WaybridgeTestingTests/OtherRouters"
APIS = json.loads((ROUTERS / "apis.json").read_text())
CODE = re.compile(r"`([^`]+)`")


class Row:
    """A row of a comparison."""

    def __init__(self, left, right):
        self.names = CODE.findall(left)
        # A row that begins with a name is called by it, any other by its whole text.
        self.key = self.names[0] if left.startswith("`") else left
        self.shown = CODE.findall(right)

    def __repr__(self):
        return self.key


@functools.cache
def rows(page):
    """The rows of the tables whose second column is Waybridge."""
    found = []
    for table in re.findall(r"^\| [^|]+ \| Waybridge \|\n\|---\|---\|\n((?:\|.*\n)+)", (ROOT / "web/docs" / page).read_text(), re.M):
        found += [Row(*[cell.strip() for cell in line.strip("|").split(" | ")]) for line in table.splitlines()]
    return found


def javascript(page):
    """The code of the rows that is JavaScript, by the row."""
    return parts((ROUTERS / page).with_suffix(".mjs"), r'^(?:row|walk|styled)\(\s*"((?:[^"\\]|\\.)*)"')


def swift(page):
    """The code of the rows that is Swift, by the row."""
    tests = {path.stem.removesuffix("RowTests").lower(): path for path in SWIFT.glob("*RowTests.swift")}
    path = tests.get(page.removesuffix(".md").replace("-", ""))
    return parts(path, r'^  @Test\(\s*"((?:[^"\\]|\\.)*)"') if path else {}


def parts(path, begins):
    text = path.read_text()
    starts = [(match.start(), json.loads(f'"{match[1]}"')) for match in re.finditer(begins, text, re.M)]
    ends = [start for start, _ in starts[1:]] + [len(text)]
    return {key: text[start:end] for (start, key), end in zip(starts, ends)}


def table(page):
    """The route table of a page."""
    (block,) = [block for block in fenced(ROOT / "web/docs" / page) if block.language == "json" and '"routes"' in block.text]
    return block.text


def has(code, shown):
    """Whether code contains what a row shows, in which `…` stands for anything, and space does not count."""
    pattern = ".*?".join(re.escape(re.sub(r"\s", "", part)) for part in shown.split("…"))
    return re.search(pattern, re.sub(r"\s", "", code), re.S) is not None


class RouterRows(unittest.TestCase):
    maxDiff = None

    def test_every_api_has_a_row(self):
        for page, routers in APIS["apis"].items():
            for router, names in routers.items():
                with self.subTest(page, router=router):
                    self.assertEqual(len(names), len(set(names)))
                    named = {name for row in rows(page) for name in [row.key, *row.names]}
                    self.assertEqual([], [name for name in names if name not in named])

    def test_every_name_of_a_row_is_a_listed_api(self):
        """So that a row for an API that is no longer listed, or is misspelt, is found."""
        for page, routers in APIS["apis"].items():
            listed = {name for names in routers.values() for name in names}
            self.assertEqual([], [name for row in rows(page) for name in row.names if name not in listed], page)

    def test_every_row_has_code_or_names_a_difference(self):
        for page in APIS["apis"]:
            differences = set(APIS["differences"].get(page, ()))
            with_code = set(javascript(page)) | set(swift(page))
            keys = [row.key for row in rows(page)]
            self.assertEqual(len(keys), len(set(keys)), page)
            self.assertEqual(set(keys), with_code | differences, page)
            self.assertEqual(set(), with_code & differences, page)

    def test_code_of_row_contains_what_it_shows(self):
        count = 0
        for page in APIS["apis"]:
            sources = [javascript(page), swift(page)]
            for row in rows(page):
                if row.key in APIS["differences"].get(page, ()):
                    continue
                code = "\n".join([source.get(row.key, "") for source in sources] + [table(page)])
                with self.subTest(page, row=row):
                    self.assertEqual([], [shown for shown in row.shown if not has(code, shown)])
                    count += 1
        self.assertGreater(count, 100)

    def test_javascript_of_rows_runs(self):
        for page in APIS["apis"]:
            with self.subTest(page), tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                file.write(table(page))
                file.flush()
                done = subprocess.run(
                    ["node", (ROUTERS / page).with_suffix(".mjs")], capture_output=True, text=True, timeout=300,
                    env=os.environ | {"TABLE": file.name, "WAYBRIDGE": str(Path(WAYBRIDGE).resolve())},
                )  # fmt: skip
                self.assertEqual((0, ""), (done.returncode, done.stderr))
                ends = [json.loads(line) for line in done.stdout.splitlines()]
                self.assertEqual([], [end for end in ends if "error" in end])
                self.assertEqual(list(javascript(page)), [end["row"] for end in ends])


if __name__ == "__main__":
    unittest.main()
