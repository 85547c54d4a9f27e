"""The version: the same number everywhere, and the commit that was built."""

import json
import os
import re
import unittest

from paths import ROOT

from command import run


class Versions(unittest.TestCase):
    def test_version_is_the_same_everywhere(self):
        (changes, *_) = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
        source = (ROOT / "Sources/WaySession/Wire/ServerSoftware.swift").read_text()
        (server,) = re.findall(r'package static let version = "(.*)"', source)
        client = json.loads((ROOT / "web/bridge/package.json").read_text())["version"]
        program = run("--version")[1].split()[1]
        self.assertEqual({changes}, {server, client, program})

    def test_every_version_has_date_and_changes(self):
        text = (ROOT / "CHANGELOG.md").read_text()
        for heading, changes in re.findall(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", text, re.M | re.S):
            self.assertRegex(heading, r"^\d+\.\d+\.\d+ \((\d{4}-\d\d-\d\d|unreleased)\)$")
            self.assertRegex(changes, r"(?m)^- ")

    def test_program_prints_commit_of_build(self):
        commit = os.environ.get("WAYBRIDGE_COMMIT") or "unknown"
        self.assertEqual(f"(commit {commit})", run("--version")[1].strip().split(" ", 2)[2])


if __name__ == "__main__":
    unittest.main()
