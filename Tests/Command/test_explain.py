"""`waybridge explain`, of a table and of a running bridge."""

import json
import pathlib
import subprocess
import tempfile
import unittest

from command import ROOT, WAYBRIDGE, Server, environment, run, run_line_by_line

TABLE = str(ROOT / "protocol/routes/demo.json")
MEMBERS = {
    "uri", "canOpen", "kind", "route", "params", "sources", "candidates", "redirects", "releases", "interceptors", "fallback",
    "reason",
}  # fmt: skip


def explain(text, *arguments):
    """The results for lines on standard input, as values."""
    command = [WAYBRIDGE, "explain", "--json", *arguments, "-"]
    done = subprocess.run(command, input=text.encode(), capture_output=True, timeout=60, env=environment({}))
    assert (done.returncode, done.stderr) == (0, b""), done
    return [json.loads(line) for line in done.stdout.splitlines()]


class ExplainCommand(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("serve", "--conformance", "--table", TABLE, "--port", "0")
        cls.server.__enter__()
        cls.addClassCleanup(cls.server.__exit__)

    def test_explains_with_table_file_or_server(self):
        uri = "native://address/list?city=Kyoto"
        for source in (["--table", TABLE], ["--url", self.server.url]):
            (result,) = explain(uri, *source)
            self.assertLessEqual(MEMBERS, set(result), source)
            self.assertEqual(uri, result["uri"])
            self.assertEqual("native://address/list", result["route"]["pattern"])
            self.assertEqual(({"city": "Kyoto"}, {"city": "query"}), (result["params"], result["sources"]))
            self.assertTrue(result["candidates"][0]["chosen"])

    def test_server_knows_its_hosts_and_tasks(self):
        uris = "native://address/list\naction://echo\n"
        table = [result["canOpen"] for result in explain(uris, "--table", TABLE)]
        bridge = [result["canOpen"] for result in explain(uris, "--url", self.server.url)]
        self.assertEqual(([True, False], [False, True]), (table, bridge))

    def test_unmatched_and_invalid_uris_are_explained(self):
        uris = ["native://no/such", "a b", "x:" + "a" * 70_000, "", "x:/%"]
        for source in (["--table", TABLE], ["--url", self.server.url]):
            results = explain("".join(uri + "\n" for uri in uris), *source)
            self.assertEqual([(uri, False) for uri in uris], [(result["uri"], result["canOpen"]) for result in results])
            for result in results:
                self.assertLessEqual(MEMBERS, set(result))
                self.assertTrue(result["reason"], result)

    def test_many_lines_are_explained_in_order(self):
        for source, count in [(["--table", TABLE], 100_000), (["--url", self.server.url], 10_000)]:
            uris = [f"native://address/list?n={number}" for number in range(count)]
            results = explain("\n".join(uris), *source)
            self.assertEqual(uris, [result["uri"] for result in results])

    def test_each_line_is_explained_immediately(self):
        for source in (["--table", TABLE], ["--url", self.server.url]):
            uris = ["native://address/list", "", "a:b"]
            results = run_line_by_line(uris, "explain", "--json", *source, "-")
            self.assertEqual(uris, [json.loads(result)["uri"] for result in results])

    def test_text_shows_target_and_reason(self):
        for source in (["--table", TABLE], ["--url", self.server.url]):
            code, output, errors = run("explain", *source, "native://address/list?a=b", "nowhere:x")
            self.assertEqual((0, ""), (code, errors))
            first, other = output.split("\n\n")
            self.assertEqual("native://address/list?a=b", first.splitlines()[0])
            self.assertIn('a = "b"  (query)', first)
            self.assertIn("tried:\n    * ", first)
            self.assertEqual("nowhere:x", other.splitlines()[0])
            self.assertIn("does not open: ", other)


class PolicyExplanation(unittest.TestCase):
    """The decisions of a policy for a caller, in addition to those of the table."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.policy = pathlib.Path(folder.name, "policy.json")
        rules = [
            {"name": "staff", "allow": ["*"], "groups": ["staff"]},
            {"name": "pages", "allow": ["router.*"], "origins": ["https://a.test"], "routes": ["home", "time"]},
            {"name": "tasks", "allow": ["router.invoke"], "subjects": ["anna"], "routes": ["action://time"]},
            {"name": "no upgrade", "deny": ["*"], "routes": ["native://upgrade", "native://address/:id"]},
        ]
        self.policy.write_text(json.dumps({"rules": rules}))

    def explain(self, uri, *arguments):
        (result,) = explain(uri + "\n", "--table", TABLE, "--policy", str(self.policy), *arguments)
        return result

    def test_denying_rule_is_shown(self):
        page, staff, anna = {"origin": "https://a.test"}, {"token": {"groups": ["staff"]}}, {"token": {"sub": "anna"}}
        for uri, asker, rule in [
            ("native://home", page, None),
            ("native://orders", page, "default"),
            ("native://home", None, "default"),
            ("native://orders", staff, None),
            ("native://upgrade?uri=a:b", staff, "no upgrade"),
            # After the redirect to native://address/:id.
            ("native://contacts/7", staff, "no upgrade"),
            # It only has to run.
            ("action://time", anna, None),
            ("native://home", anna, "default"),
        ]:
            with self.subTest(uri, asker=asker):
                result = self.explain(uri, *(["--as", json.dumps(asker)] if asker else []))
                self.assertLessEqual(MEMBERS | {"policy"}, set(result))
                self.assertEqual((rule, rule is None), (result["policy"], result["canOpen"]))
                self.assertEqual(rule is not None, "olicy" in result["reason"], result["reason"])

    def test_no_policy_shows_no_rule(self):
        (result,) = explain("native://home\n", "--table", TABLE)
        self.assertNotIn("policy", result)

    def test_text_names_the_rule(self):
        arguments = ["--table", TABLE, "--policy", str(self.policy), "--as", '{"token": {"groups": ["staff"]}}']
        code, output, errors = run("explain", *arguments, "native://upgrade?uri=a:b", "native://home")
        self.assertEqual((0, ""), (code, errors))
        refused, other = output.split("\n\n")
        self.assertIn("\n  does not open: page 'upgrade', The policy's rule \"no upgrade\" denies router.open\n", refused)
        self.assertIn("\n  refused by the policy: no upgrade\n", refused)
        self.assertIn("\n  opens: ", other)
        self.assertNotIn("policy", other)

    def test_server_explains_for_its_caller_only(self):
        with Server("serve", "--table", TABLE, "--policy", str(self.policy), "--port", "0") as server:
            code, _, errors = run("explain", "--url", server.url, "native://home")
            self.assertEqual(1, code)
            self.assertIn("No rule of the policy allows router.explain", errors)
            for arguments in (["--url", server.url, "--policy", str(self.policy)], ["--url", server.url, "--as", "{}"], ["--as", "{}"]):
                code, output, errors = run("explain", *arguments, "a:b")
                self.assertEqual((64, ""), (code, output), arguments)
                self.assertIn("--policy and --as require --table", errors)

    def test_invalid_caller_or_policy_is_reported(self):
        for asker, text in [("{,}", "--as is not JSON: line 1, column 2: "), ('{"sub": "anna"}', "$.sub: unknown member"), ('{"token": {"groups": "a"}}', "$.token.groups: has to be an array")]:
            code, output, errors = run("explain", "--table", TABLE, "--policy", str(self.policy), "--as", asker, "a:b")
            self.assertEqual((64, ""), (code, output))
            self.assertIn(text, errors)
        self.policy.write_text('{"rules": [{}]}')
        code, output, errors = run("explain", "--table", TABLE, "--policy", str(self.policy), "a:b")
        self.assertEqual((1, ""), (code, output))
        self.assertIn("\n$.rules[0]: ", errors)


class Rollouts(unittest.TestCase):
    def test_rollout_of_route_is_shown(self):
        with tempfile.TemporaryDirectory() as folder:
            table = pathlib.Path(folder) / "routes.json"
            table.write_text(json.dumps({
                "version": "1",
                "routes": [
                    {"name": "new", "pattern": "native://a", "kind": "page", "priority": 1, "release": {"share": 0.5, "clients": {"shop": ">=5"}}},
                    {"name": "old", "pattern": "native://a", "kind": "page"},
                ],
                "redirects": [{"from": "native://b", "branches": [{"share": 0.5, "to": "native://a"}]}],
            }))  # fmt: skip
            for name, found in [(name, self.found(table, name)) for name in ["ann", "ben", "cid", "dora", "emil"]]:
                inside = "inside of 0.0 to 0.5" in found["releases"][0]
                self.assertEqual("new" if inside else "old", found["route"]["name"], name)
            old = self.found(table, "ann", "4.9")
            self.assertEqual(["route 'new': it is for shop >=5, not for shop 4.9"], old["releases"])
            (anonymous,) = explain("native://a\n", "--table", str(table))
            self.assertEqual("old", anonymous["route"]["name"])
            (anonymous,) = explain("native://b\n", "--table", str(table))
            self.assertEqual([], anonymous["redirects"])
            self.assertIn("the caller is unknown", anonymous["releases"][0])

    def found(self, table, user, version="5.0"):
        asker = {"token": {"sub": user}, "client": {"name": "shop", "version": version}}
        (found,) = explain("native://a\n", "--table", str(table), "--as", json.dumps(asker))
        return found


class SourceSelection(unittest.TestCase):
    def test_url_flag_overrides_table_of_settings(self):
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

    def test_invalid_argument_combinations_are_rejected(self):
        for arguments, text in [(["--table", TABLE, "--url", "ws://h/", "a:b"], "exclude each other"), (["--table", TABLE], "standard input")]:
            code, output, errors = run("explain", *arguments)
            self.assertEqual((64, ""), (code, output))
            self.assertIn(text, errors)

    def test_invalid_table_and_unreachable_server_are_reported(self):
        with Server("serve", "--port", "0") as server:
            url = server.url
        for arguments, text in [(["--table", "/no/such.json"], "/no/such.json cannot be read"), (["--url", url], url)]:
            code, output, errors = run("explain", *arguments, "a:b")
            self.assertEqual((1, ""), (code, output))
            self.assertIn(text, errors)


if __name__ == "__main__":
    unittest.main()
