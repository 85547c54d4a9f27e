"""`waybridge explain`, of a table and of a running bridge."""

import json
import pathlib
import subprocess
import tempfile
import unittest

from command import ROOT, WAYBRIDGE, Server, answers_one_by_one, environment, run

TABLE = str(ROOT / "protocol/routes/demo.json")
MEMBERS = {
    "uri", "canOpen", "kind", "route", "params", "sources", "candidates", "redirects", "interceptors", "fallback",
    "reason",
}  # fmt: skip


def explain(text, *arguments):
    """The answers to lines on standard input, as values."""
    command = [WAYBRIDGE, "explain", "--json", *arguments, "-"]
    done = subprocess.run(command, input=text.encode(), capture_output=True, timeout=60, env=environment({}))
    assert (done.returncode, done.stderr) == (0, b""), done
    return [json.loads(line) for line in done.stdout.splitlines()]


class Explaining(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("serve", "--conformance", "--table", TABLE, "--port", "0")
        cls.server.__enter__()
        cls.addClassCleanup(cls.server.__exit__)

    def test_a_table_is_read_here_and_a_bridge_is_asked(self):
        uri = "native://address/list?city=Kyoto"
        for source in (["--table", TABLE], ["--url", self.server.url]):
            (answer,) = explain(uri, *source)
            self.assertLessEqual(MEMBERS, set(answer), source)
            self.assertEqual(uri, answer["uri"])
            self.assertEqual("native://address/list", answer["route"]["pattern"])
            self.assertEqual(({"city": "Kyoto"}, {"city": "query"}), (answer["params"], answer["sources"]))
            self.assertTrue(answer["candidates"][0]["chosen"])

    def test_only_the_bridge_knows_its_hosts_and_its_own_tasks(self):
        uris = "native://address/list\naction://echo\n"
        table = [answer["canOpen"] for answer in explain(uris, "--table", TABLE)]
        bridge = [answer["canOpen"] for answer in explain(uris, "--url", self.server.url)]
        self.assertEqual(([True, False], [False, True]), (table, bridge))

    def test_what_leads_nowhere_or_is_no_uri_is_answered(self):
        uris = ["native://no/such", "a b", "x:" + "a" * 70_000, "", "x:/%"]
        for source in (["--table", TABLE], ["--url", self.server.url]):
            answers = explain("".join(uri + "\n" for uri in uris), *source)
            self.assertEqual([(uri, False) for uri in uris], [(answer["uri"], answer["canOpen"]) for answer in answers])
            for answer in answers:
                self.assertLessEqual(MEMBERS, set(answer))
                self.assertTrue(answer["reason"], answer)

    def test_as_many_lines_as_come_are_answered_in_order(self):
        for source, count in [(["--table", TABLE], 100_000), (["--url", self.server.url], 10_000)]:
            uris = [f"native://address/list?n={number}" for number in range(count)]
            answers = explain("\n".join(uris), *source)
            self.assertEqual(uris, [answer["uri"] for answer in answers])

    def test_a_line_is_answered_before_the_next_one_comes(self):
        for source in (["--table", TABLE], ["--url", self.server.url]):
            uris = ["native://address/list", "", "a:b"]
            answers = answers_one_by_one(uris, "explain", "--json", *source, "-")
            self.assertEqual(uris, [json.loads(answer)["uri"] for answer in answers])

    def test_the_text_says_where_it_leads_and_why(self):
        for source in (["--table", TABLE], ["--url", self.server.url]):
            code, output, errors = run("explain", *source, "native://address/list?a=b", "nowhere:x")
            self.assertEqual((0, ""), (code, errors))
            first, other = output.split("\n\n")
            self.assertEqual("native://address/list?a=b", first.splitlines()[0])
            self.assertIn('a = "b"  (query)', first)
            self.assertIn("tried:\n    * ", first)
            self.assertEqual("nowhere:x", other.splitlines()[0])
            self.assertIn("does not open: ", other)


class Choosing(unittest.TestCase):
    def test_variables_and_the_file_name_a_table_and_a_flag_for_the_bridge_wins(self):
        with tempfile.TemporaryDirectory() as folder, Server("serve", "--port", "0") as server:
            config = pathlib.Path(folder, "waybridge.json")
            config.write_text(json.dumps({"table": TABLE}))
            uri = "native://address/list"
            for arguments, variables, opens in [
                ([], {"WAYBRIDGE_TABLE": TABLE}, True),
                (["--config", str(config)], {}, True),
                (["--url", server.url], {"WAYBRIDGE_TABLE": TABLE}, False),
                ([], {"WAYBRIDGE_URL": server.url}, False),
            ]:
                code, output, errors = run("explain", "--json", *arguments, uri, **variables)
                self.assertEqual((0, ""), (code, errors))
                self.assertEqual(opens, json.loads(output)["canOpen"], (arguments, variables))

    def test_a_table_and_a_bridge_at_once_or_no_uri_are_a_wrong_command_line(self):
        for arguments, text in [(["--table", TABLE, "--url", "ws://h/", "a:b"], "not both"), (["--table", TABLE], "standard input")]:
            code, output, errors = run("explain", *arguments)
            self.assertEqual((64, ""), (code, output))
            self.assertIn(text, errors)

    def test_a_table_that_is_wrong_and_a_bridge_that_is_not_there(self):
        with Server("serve", "--port", "0") as server:
            url = server.url
        for arguments, text in [(["--table", "/no/such.json"], "/no/such.json cannot be read"), (["--url", url], url)]:
            code, output, errors = run("explain", *arguments, "a:b")
            self.assertEqual((1, ""), (code, output))
            self.assertIn(text, errors)


if __name__ == "__main__":
    unittest.main()
