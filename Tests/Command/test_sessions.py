"""`waybridge sessions`: the content of a folder of stored sessions, and folders without sessions."""

import json
import os
import pathlib
import shutil
import sqlite3
import tempfile
import unittest

from command import run

TABLES = """
CREATE TABLE sessions (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, owner TEXT NOT NULL, term INTEGER NOT NULL,
  changed INTEGER NOT NULL) STRICT;
CREATE TABLE parts (session INTEGER NOT NULL, part TEXT NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (session, part))
  STRICT, WITHOUT ROWID;
PRAGMA application_id = 0x57617962;
PRAGMA user_version = 1;
"""

PARTS = {
    "session": {"joinToken": "SECRET", "identity": {"user": "ada", "groups": ["staff"]}},
    "stack": {"pages": ["1"], "note": {"deeper": [{"token": "SECRET"}]}},
    "page/1": {"uri": "native://a/b"},
    "page/2/x": {},
    "client/1": {"name": "web", "token": "SECRET", "former": ["SECRET", "SECRET"]},
    "client/12": {},
    "frame/1/00000000000000000001": {"jsonrpc": "2.0", "method": "event", "params": {"token": {"SECRET": 1}}},
    "frame/1/00000000000000000002": {"jsonrpc": "2.0", "id": 1.50, "result": []},
    "frame/12/00000000000000000001": {},
    "key/guest/pay/7": {"value": 1},
    "key//pay": None,
    "invitations": [],
    "links": ["native://c"],
}


class Sessions(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.data = str(self.folder / "data")
        os.mkdir(self.data)
        self.file = self.folder / "data/sessions.db"

    def make(self, *sessions):
        """Writes a store of sessions, each an id with its parts; returns the content of its folder."""
        database = sqlite3.connect(self.file)
        database.execute("PRAGMA journal_mode = WAL")
        database.executescript(TABLES)
        for number, (name, parts) in enumerate(sessions, 1):
            changed = 1_800_000_000_000 + number * 1_000
            database.execute("INSERT INTO sessions VALUES (?, ?, 'server-a', 3, ?)", (number, name, changed))
            for part, value in parts.items():
                data = value if isinstance(value, bytes) else json.dumps(value).encode()
                database.execute("INSERT INTO parts VALUES (?, ?, ?)", (number, part, data))
        database.commit()
        database.close()
        return self.files()

    def files(self):
        return {name: (self.folder / "data" / name).read_bytes() for name in os.listdir(self.data)}

    def shown(self, *arguments):
        """Standard output of a command that succeeds."""
        code, output, errors = run("sessions", *arguments, "--data", self.data)
        self.assertEqual((0, ""), (code, errors))
        return output


class ListCommand(Sessions):
    def test_sessions_are_listed_with_counts_and_sizes(self):
        before = self.make(("one", PARTS), ("two", {"session": {}}), ("three", {}))
        found = [json.loads(line) for line in self.shown("list", "--json").splitlines()]
        size = sum(len(name) + len(json.dumps(value)) for name, value in PARTS.items())
        counts = {"clients": 2, "pages": 2, "keys": 2, "messages": 3}
        none = dict.fromkeys(counts, 0)
        self.assertEqual(
            [
                {"id": "one", "user": "ada", **counts, "bytes": size, "owner": "server-a", "changed": "2027-01-15T08:00:01Z"},
                {"id": "two", "user": None, **none, "bytes": 9, "owner": "server-a", "changed": "2027-01-15T08:00:02Z"},
                {"id": "three", "user": None, **none, "bytes": 0, "owner": "server-a", "changed": "2027-01-15T08:00:03Z"},
            ],
            found,
        )
        self.assertEqual(before, self.files())

    def test_list_prints_a_text_table(self):
        self.make(("one", {"session": {"identity": {"user": "ada"}}, "page/1": 7}), ("a longer one", {"session": {"identity": {"user": "-"}}}), ("3", {}))
        self.assertEqual(
            "ID              USER  CLIENTS  PAGES  KEYS  MESSAGES  BYTES  CHANGED\n"
            "one             ada   0        1      0     0         43     2027-01-15T08:00:01Z\n"
            '"a longer one"  "-"   0        0      0     0         34     2027-01-15T08:00:02Z\n'
            "3               -     0        0      0     0         0      2027-01-15T08:00:03Z\n",
            self.shown("list"),
        )

    def test_names_are_escaped_for_terminals(self):
        self.make(("x", {"session": {"identity": {"user": "\x1b[31m\nred"}}}))
        output = self.shown("list")
        self.assertNotIn("\x1b", output)
        self.assertEqual(2, output.count("\n"))

    def test_list_without_any_sessions(self):
        self.make()
        self.assertEqual("", self.shown("list", "--json"))
        self.assertEqual(1, self.shown("list").count("\n"))


class ShowCommand(Sessions):
    def test_all_records_are_shown_without_secrets(self):
        before = self.make(("other", {"session": {"identity": {"user": "eve"}}}), ("one", PARTS))
        output = self.shown("show", "one")
        self.assertEqual(
            {
                "id": "one", "owner": "server-a", "term": 3, "changed": "2027-01-15T08:00:02Z",
                "parts": {
                    "session": {"joinToken": "…", "identity": {"user": "ada", "groups": ["staff"]}},
                    "stack": {"pages": ["1"], "note": {"deeper": [{"token": "…"}]}},
                    "page": {"1": {"uri": "native://a/b"}, "2/x": {}},
                    "client": {"1": {"name": "web", "token": "…", "former": "…"}, "12": {}},
                    "frame": {
                        "1": {
                            "00000000000000000001": {"jsonrpc": "2.0", "method": "event", "params": {"token": "…"}},
                            "00000000000000000002": {"jsonrpc": "2.0", "id": 1.5, "result": []},
                        },
                        "12": {"00000000000000000001": {}},
                    },
                    "key": {"guest": {"pay/7": {"value": 1}}, "": {"pay": None}},
                    "invitations": [], "links": ["native://c"],
                },
            },
            json.loads(output),
        )  # fmt: skip
        self.assertNotIn("SECRET", output)
        self.assertIn('\n    "page": {\n      "1": {\n        "uri": "native://a/b"\n      },', output)
        line = self.shown("show", "--json", "one")
        self.assertEqual((json.loads(output), 1), (json.loads(line), line.count("\n")))
        self.assertEqual(before, self.files())

    def test_invalid_record_does_not_hide_others(self):
        self.make(("one", {"session": b"\xff{", "stack": {"pages": []}}))
        parts = json.loads(self.shown("show", "one"))["parts"]
        self.assertRegex(parts["session"], r"^\(2 bytes that are not JSON: .+\)$")
        self.assertEqual({"pages": []}, parts["stack"])
        self.assertIn("one", self.shown("list"))

    def test_unknown_session_is_reported(self):
        self.make(("one", {}))
        code, output, errors = run("sessions", "show", "two\n", "--data", self.data)
        self.assertEqual((1, "", f'Error: there is no session "two\\n" in "{self.data}"\n'), (code, output, errors))


class StoreErrors(Sessions):
    def refused(self, reason, data=None):
        for arguments in (["list"], ["show", "one"]):
            code, output, errors = run("sessions", *arguments, "--data", data or self.data)
            self.assertEqual((1, ""), (code, output))
            self.assertIn(reason, errors)
            self.assertTrue(errors.startswith("Error: "), errors)
            self.assertEqual(1, errors.count("\n"), errors)

    def test_missing_folder_or_file_is_reported(self):
        self.refused(f"{self.data}/sessions.db cannot be used: the folder contains no session store: No such file or directory")
        self.assertEqual({}, self.files())
        self.refused("No such file or directory", data=str(self.folder / "no/such"))
        self.refused("Not a directory", data=__file__)

    def test_store_in_use_by_server_is_reported(self):
        self.make(("one", {}))
        server = sqlite3.connect(self.file)
        self.addCleanup(server.close)
        server.execute("PRAGMA locking_mode = EXCLUSIVE")
        server.execute("BEGIN IMMEDIATE")
        server.execute("COMMIT")
        self.refused("another process uses the file, for example a running server")

    def test_store_of_killed_server_is_listed(self):
        self.make(("one", {}))
        server = sqlite3.connect(self.file)
        self.addCleanup(server.close)
        server.execute("INSERT INTO sessions VALUES (2, 'late', 'server-b', 1, 0)")
        server.commit()
        copy = self.folder / "copy"
        copy.mkdir()
        for name in ("sessions.db", "sessions.db-wal"):
            shutil.copy(self.folder / "data" / name, copy)
        before = {path.name: path.read_bytes() for path in copy.iterdir()}
        code, output, errors = run("sessions", "list", "--json", "--data", str(copy))
        self.assertEqual((0, ""), (code, errors))
        self.assertEqual(["one", "late"], [json.loads(line)["id"] for line in output.splitlines()])
        self.assertEqual(before, {path.name: path.read_bytes() for path in copy.iterdir()})

    def test_damaged_or_foreign_store_is_reported(self):
        self.file.write_bytes(b"This is no database. " * 300)
        self.refused("SQLITE_NOTADB")
        self.file.unlink()
        files = self.make(("one", {"page/1": "x" * 100_000}))
        self.file.write_bytes(files["sessions.db"][:4096] + b"\xa5" * (len(files["sessions.db"]) - 4096))
        self.refused(f"move it and {self.file}-wal")
        self.file.unlink()
        self.make()
        database = sqlite3.connect(self.file)
        database.execute("PRAGMA user_version = 2")
        database.close()
        self.refused("a newer version of Waybridge wrote it")
        self.file.unlink()
        database = sqlite3.connect(self.file)
        database.execute("CREATE TABLE notes (text)")
        database.close()
        self.refused("the file is not a session store")

    def test_invalid_arguments_are_rejected(self):
        for arguments in (["list"], ["show", "one"], ["show", "--data", self.data], ["list", "--data", self.data, "x"], ["take"]):
            code, output, _ = run("sessions", *arguments)
            self.assertEqual((64, ""), (code, output), arguments)


if __name__ == "__main__":
    unittest.main()
