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

    def test_compatibility_page_has_the_formats_of_the_code(self):
        page = (ROOT / "web/docs/compatibility.md").read_text()

        def shown(part, pattern=r"\d+"):
            (row,) = re.findall(rf"^\| {re.escape(part)} \| ([^|]*) \|", page, re.M)
            return re.findall(pattern, row)

        def coded(path, pattern):
            return re.findall(pattern, (ROOT / "Sources" / path).read_text())

        byte = r"formatVersion: UInt8 = (\d+)"
        self.assertEqual(shown("data folder (`--data`)"), coded("WayStore/SessionSchema.swift", r"let version: Int64 = (\d+)"))
        self.assertEqual(shown("messages between servers"), coded("WaySession/Cluster/SessionClusterMessage.swift", byte))
        self.assertEqual(shown("entries of a session log in NATS"), coded("WaybridgeCluster/JetStreamSessionLogEntry.swift", byte))
        streams = coded("WaybridgeCluster/JetStreamSessionLogStream.swift", r"Sessions of Waybridge, form (\d+)")
        leases = coded("WaybridgeCluster/NATSServerLeases.swift", r"Leases of Waybridge, form (\d+)")
        blobs = coded("WaybridgeCluster/Blobs/JetStreamBlobStream.swift", r"Blobs of Waybridge, form (\d+)")
        self.assertEqual(shown("cluster streams (NATS)"), streams + leases + blobs)

    def test_program_prints_commit_of_build(self):
        commit = os.environ.get("WAYBRIDGE_COMMIT") or "unknown"
        self.assertEqual(f"(commit {commit})", run("--version")[1].strip().split(" ", 2)[2])


if __name__ == "__main__":
    unittest.main()
