"""Sources/README.md against the sources: which target imports which, and which folder names which."""

import json
import re
import subprocess
import unittest

from readme import ROOT

PAGE = (ROOT / "Sources/README.md").read_text()
IMPORT = re.compile(
    r"^(?:@\w+ )?(?:package |public )?import (?:struct |enum |class |func |protocol )?(\w+)", re.M)
TYPE = re.compile(
    r"^(?:@\w+(?:\([^)]*\))? )*(?:package |public |final |indirect )*"
    r"(?:struct|class|enum|actor|protocol|typealias) (\w+)", re.M)


# The programs that plugins run.
RUN = {"WaybridgeModules": {"FindModules"}}


def targets():
    return {path.name for path in (ROOT / "Sources").iterdir() if path.is_dir()}


def imports(target):
    found = set()
    for path in (ROOT / "Sources" / target).rglob("*.swift"):
        found |= set(IMPORT.findall(path.read_text()))
    return found & targets()


def code(path):
    """A file without comments and texts, in which names mean nothing."""
    text = re.sub(r'"(\\.|[^"\\\n])*"', '""', path.read_text())
    return re.sub(r"//.*", "", text)


class TargetTests(unittest.TestCase):
    def rows(self):
        rows = re.findall(r"^\| (\w+) \| ([^|]+) \| [^|]+ \|$", PAGE, re.M)
        named = {name: set(re.findall(r"\w+", listed)) for name, listed in rows}
        return {name: listed for name, listed in named.items() if name not in ("target", "part")}

    def test_imports_of_targets_match_the_page(self):
        rows = self.rows()
        self.assertEqual(targets(), set(rows))
        for target in sorted(rows):
            with self.subTest(target):
                self.assertEqual(imports(target), rows[target])

    def test_imports_of_targets_have_no_cycle(self):
        rows, order = self.rows(), []
        while len(order) < len(rows):
            free = [name for name in rows if name not in order and rows[name] <= set(order)]
            self.assertTrue(free, f"a circle among {sorted(set(rows) - set(order))}")
            order += free

    def test_manifest_allows_no_further_imports(self):
        dumped = subprocess.run(
            ["swift", "package", "dump-package"], cwd=ROOT, check=True, stdout=subprocess.PIPE)
        depends = {}
        for target in json.loads(dumped.stdout)["targets"]:
            named = [entry["byName"][0] for entry in target["dependencies"] if "byName" in entry]
            depends[target["name"]] = set(named) & targets()
        for target, listed in self.rows().items():
            with self.subTest(target):
                # A plugin imports nothing of what it runs.
                self.assertEqual(depends[target] - RUN.get(target, set()), listed)


class FolderTests(unittest.TestCase):
    """The folders of WaySession and WayRouting, each of which names only what stands before it."""

    def test_dependencies_between_folders_of_the_session_point_down(self):
        folders = re.search(r"^Identifiers, .*$", PAGE, re.M)[0].split(", ")
        core = folders.index("Snapshot")
        self.check("WaySession", folders[:core] + [""] + folders[core:])

    def test_dependencies_between_folders_of_the_router_point_down(self):
        self.check("WayRouting", re.search(r"^Support, .*$", PAGE, re.M)[0].split(", "))

    def check(self, target, order):
        root = ROOT / "Sources" / target
        files = [(path, "".join(path.relative_to(root).parent.parts[:1])) for path in root.rglob("*.swift")]
        self.assertEqual(set(order), {folder for _, folder in files})
        owner = {}
        for path, folder in files:
            for name in TYPE.findall(path.read_text()):
                owner.setdefault(name, folder)
        self.assertGreater(len(owner), 60)
        for path, folder in files:
            for name in set(re.findall(r"\b[A-Z]\w+", code(path))) & set(owner):
                with self.subTest(f"{path.name} names {name}"):
                    self.assertLessEqual(order.index(owner[name]), order.index(folder))

    def test_only_walks_visit_all_sessions(self):
        found = {
            path.name for path in (ROOT / "Sources/WaySession").rglob("*.swift")
            if re.search(r"\bsessions\.(next|start)\b", code(path))
        }
        self.assertEqual(found, {"LoopSessions+Walk.swift"})
        registry = (ROOT / "Sources/WaySession/Wire/SessionRegistry.swift").read_text()
        members = set(re.findall(r"^  (?:mutating )?(?:func|var) (\w+)", registry, re.M))
        self.assertEqual(members, {"count", "add", "remove", "start", "next"})

    def test_only_walks_visit_all_clients_and_connections(self):
        """What grows with the clients of a loop is visited in several turns: by a walk, or in the share of bulk work."""
        clients = code(ROOT / "Sources/WaySession/Wire/Clients/ResumableClients.swift")
        self.assertEqual(re.findall(r"\bentries\.(?:next|start|\w*values)\b", clients), ["entries.start", "entries.next"])
        writer = code(ROOT / "Sources/WaySession/Store/SessionStoreWriter.swift")
        self.assertEqual(
            re.findall(r"(\w+)\((?:Array\()?(?:journals|due)\.values", writer), ["write", "visit", "visit", "write"])
        self.assertEqual(len(re.findall(r"\b(?:journals|due|urgent|deferred)\.values", writer)), 4)
        self.assertNotRegex(writer, r"for \w+ in (?:journals|due|urgent|deferred)\b")
        connections = code(ROOT / "Sources/WaySockets/WebSocket/SocketLoopServer.swift")
        functions = re.split(r"^  (?:(?:private|override) )*(?:func|init|var) ?(\w*)", connections, flags=re.M)
        found = {
            name for name, body in zip(functions[1::2], functions[2::2])
            if re.search(r"\bconnections\.values\b|in connections\b", body)
        }
        # The others make room in a budget at once, check some in each turn, or run when the loop ends.
        others = {"scheduleLivenessCheck", "closeLongestQueues", "closeOldestUnfinished", "loopWillEnd"}
        self.assertEqual(found, {"visitConnections"} | others)


if __name__ == "__main__":
    unittest.main()
