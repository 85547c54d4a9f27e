"""`waybridge policy check` and `test`, and `waybridge serve --policy`."""

import json
import pathlib
import subprocess
import tempfile
import unittest

import jsonschema

from command import ROOT, WAYBRIDGE, Server, environment, run
from rawsocket import WebSocket

SCHEMA = json.loads((ROOT / "protocol/schema/policy.schema.json").read_text())
TABLE = str(ROOT / "protocol/routes/demo.json")
DEMO = str(ROOT / "protocol/policies/demo.json")
CASES = str(ROOT / "protocol/policies/demo.cases.json")


def rule(**members):
    """A document with one rule that allows everything, changed by `members`; None omits a property."""
    members = {"name": "r", "allow": ["*"]} | members
    return {"rules": [{name: value for name, value in members.items() if value is not None}]}


# A document, and whether the schema and the parser accept it. Some errors only the parser can detect.
DOCUMENTS = [
    ({}, True, True),
    ({"$schema": "x", "hosts": ["a.test", "[::1]:1"], "origins": ["null", "https://*.a.test:*"]}, True, True),
    (rule(), True, True),
    (rule(allow=None, deny=["router.*", "$/ping"]), True, True),
    (rule(origins=["http://localhost:*"], groups=["a"], subjects=["b"], routes=["c", "/d", "e://f/:g"]), True, True),
    (rule(schemes=["web", "x+y"], server=True), True, True),
    ([], False, False),
    (None, False, False),
    ({"rule": []}, False, False),
    ({"$schema": ""}, False, False),
    ({"hosts": "a"}, False, False),
    ({"hosts": []}, False, False),
    ({"origins": ["a.test"]}, False, False),
    ({"origins": ["https://a.test/"]}, False, False),
    ({"rules": []}, False, False),
    ({"rules": {}}, False, False),
    ({"rules": [1]}, False, False),
    ({"rules": [rule()["rules"][0] | {"name": f"r{number}"} for number in range(1001)]}, False, False),
    (rule(name=None), False, False),
    (rule(name=""), False, False),
    (rule(name=7), False, False),
    (rule(name="n" * 257), False, False),
    (rule(name="permissions"), False, False),
    (rule(name="allow"), False, False),
    (rule(allow=None), False, False),
    (rule(deny=["*"]), False, False),
    (rule(allow=[]), False, False),
    (rule(allow=[""]), False, False),
    (rule(allow=["a*b"]), False, False),
    (rule(allow=["*", "*"]), False, False),
    (rule(origins=[]), False, False),
    (rule(groups=[]), False, False),
    (rule(groups=[f"g{number}" for number in range(1001)]), False, False),
    (rule(subjects=[None]), False, False),
    (rule(routes=[]), False, False),
    (rule(schemes=["a b"]), False, False),
    (rule(schemes=[]), False, False),
    (rule(server=False), False, False),
    (rule(server="true"), False, False),
    (rule(role="admin"), False, False),
    (rule(allow=["router.opne"]), True, False),
    (rule(routes=["/a/:"]), True, False),
    (rule(allow=["events.*"], routes=["a"]), True, False),
    (rule(allow=["router.*"], schemes=["web"]), True, False),
    (rule(allow=None, deny=["*"], server=True), True, False),
    ({"hosts": ["http://a.test"]}, True, False),
    ({"origins": ["https://a.*.test"]}, True, False),
    ({"rules": rule()["rules"] * 2}, True, False),
]


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, content, name="policy.json"):
        """Writes a document, or a text unchanged; returns its path."""
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)


class CheckCommand(Files):
    def test_valid_policy_prints_rule_count(self):
        for content, line in [({}, "ok: 0 rules"), (rule(), "ok: 1 rule"), (pathlib.Path(DEMO).read_text(), "ok: 11 rules")]:
            self.assertEqual((0, line + "\n", ""), run("policy", "check", self.file(content)))

    def test_denial_in_open_scheme_is_warned_about(self):
        def rules(methods, **allow):
            return {"rules": [{"name": "open", "allow": methods, **allow}, {"name": "bank", "deny": ["router.open"], "routes": ["https://bank.test/*"]}]}

        for document, warns in [
            (rules(["*"]), True), (rules(["router.*"]), True), (rules(["router.open"], groups=["staff"]), True),
            (rules(["router.open"], routes=["/*"]), True), (rules(["router.open"], routes=["HTTPS://*"]), True),
            (rules(["navigation.*"]), False), (rules(["router.open"], routes=["native://*"]), False),
            (rules(["router.open"], routes=["https://bank.test/*", "cart"]), False), (rules(["host.register"], schemes=["https"]), False),
        ]:
            with self.subTest(str(document)):
                code, output, errors = run("policy", "check", self.file(document))
                self.assertEqual((0, "ok: 2 rules\n"), (code, output))
                expected = 'warning: the rule "bank" denies https://bank.test/*, but the rule "open" allows all other URIs of the scheme' if warns else ""
                self.assertEqual(expected, errors.partition(";")[0].strip())

    def test_all_faults_are_reported_together(self):
        document = {"origin": [], "rules": [{"name": "r", "allow": ["router.opne"], "groups": []}, {"name": "r"}]}
        path = self.file(document)
        code, output, errors = run("policy", "check", path)
        self.assertEqual((1, ""), (code, output))
        self.assertIn(f"the policy {path} is wrong:\n", errors)
        for text in (
            "\n$.origin: unknown member; did you mean \"origins\"? known here: $schema, hosts, origins, rules",
            "\n$.rules[0].allow[0]: there is no method \"router.opne\"; did you mean router.open?",
            "\n$.rules[0].groups: is empty, so the rule matches no caller",
            "\n$.rules[1].name: \"r\" is already the name of $.rules[0]",
            "\n$.rules[1]: a rule needs \"allow\" or \"deny\"",
        ):
            self.assertIn(text, errors)

    def test_invalid_document_is_reported_with_path(self):
        once = '{"rules": [{"name": "r", "deny": ["*"], "allow": ["$/*"], "deny": ["router.*"]}]}'
        for content, text in [
            ("{,}", "is not JSON: line 1, column 2: "),
            ("", "is not JSON"),
            (once, "$.rules[0].deny: the member comes twice in its object"),
            (" " * (1 << 20) + "{}", "has 1048578 bytes; at most 1048576 are allowed"),
        ]:
            path = self.file(content)
            code, output, errors = run("policy", "check", path)
            self.assertEqual((1, ""), (code, output), errors)
            self.assertIn(f"the policy {path} ", errors)
            self.assertIn(text, errors)
        self.assertIn("the policy /no/such.json cannot be read", run("policy", "check", "/no/such.json")[2])

    def test_schema_and_parser_agree(self):
        validator = jsonschema.Draft7Validator(SCHEMA)
        for document, fits, is_accepted in DOCUMENTS:
            with self.subTest(str(document)[:200]):
                self.assertEqual(fits, validator.is_valid(document))
                self.assertEqual(0 if is_accepted else 1, run("policy", "check", self.file(document))[0])


class CaseTests(Files):
    def test_demo_policy_passes_its_cases(self):
        count = len(json.loads(pathlib.Path(CASES).read_text()))
        done = run("policy", "test", DEMO, CASES, "--table", TABLE)
        self.assertEqual((0, f"{count} rows: 0 not as expected\n", ""), done)

    def test_unexpected_results_are_reported_and_counted(self):
        document = {
            "rules": [
                {"name": "all", "allow": ["*"], "origins": ["https://a.test"]},
                {"name": "no secrets", "deny": ["*"], "routes": ["native://secret/*"]},
                {"name": "staff", "allow": ["session.list"], "groups": ["staff"]},
                {"name": "anna", "allow": ["events.*"], "subjects": ["anna"]},
                {"name": "daemon", "allow": ["host.*"], "schemes": ["print"], "server": True},
                {"name": "not ben", "deny": ["session.*"], "subjects": ["ben"]},
                {"name": "news", "allow": ["event"], "topics": ["news.*"]},
                {"name": "no old news", "deny": ["*"], "topics": ["news.old"]},
                {"name": "clients redraw", "allow": ["redraw"]},
            ]
        }
        rows = [
            ({"origin": "https://a.test", "method": "router.open", "uri": "native://a"}, "allow"),
            ({"origin": "https://a.test", "method": "router.open", "uri": "native://secret/./1"}, "no secrets"),
            ({"method": "router.open", "uri": "native://a"}, "default"),
            ({"method": "session.list", "token": {"groups": ["staff"], "iss": "x"}}, "allow"),
            ({"method": "session.list", "token": {"groups": ["other"]}}, "default"),
            ({"method": "events.subscribe", "token": {"sub": "anna"}}, "allow"),
            ({"method": "events.subscribe", "token": {"sub": "ben"}}, "default"),
            ({"method": "events.publish", "topic": "cart", "token": {"sub": "anna"}}, "allow"),
            ({"method": "events.publish", "topic": "news.old", "token": {"sub": "anna"}}, "no old news"),
            ({"method": "events.publish", "topic": "news.new"}, "default"),
            ({"method": "event", "topic": "news.new"}, "allow"),
            ({"method": "event", "topic": "cart", "token": {"sub": "anna"}}, "default"),
            ({"method": "redraw"}, "allow"),
            ({"method": "host.register", "scheme": "PRINT"}, "allow"),
            ({"method": "host.register", "scheme": "print", "server": True}, "allow"),
            ({"method": "host.register", "scheme": "web"}, "default"),
            ({"method": "host.register"}, "default"),
            # The policy does not decide about session.open.
            ({"method": "session.open", "token": {"sub": "ben"}}, "allow"),
            ({"method": "session.close", "token": {"sub": "ben"}}, "not ben"),
            ({"method": "session.close"}, "allow"),
            ({"method": "echo"}, "default"),
            ({"method": "echo", "origin": "https://a.test"}, "allow"),
        ]
        policy = self.file(document)
        right = [row | {"expect": expected} for row, expected in rows]
        cases = self.file(right, "cases.json")
        self.assertEqual((0, "22 rows: 0 not as expected\n", ""), run("policy", "test", policy, cases))
        wrong = [row | {"expect": "default" if expected == "allow" else "allow"} for row, expected in rows]
        code, output, errors = run("policy", "test", policy, self.file(wrong, "cases.json"))
        self.assertEqual((1, ""), (code, errors))
        lines = output.splitlines()
        self.assertEqual("22 rows: 22 not as expected", lines.pop())
        for number, (line, (_, expected)) in enumerate(zip(lines, rows, strict=True), 1):
            other = "default" if expected == "allow" else "allow"
            self.assertTrue(line.startswith(f'row {number}: expected "{other}", got "{expected}" ('), line)
        self.assertIn("(router.open native://secret/./1)", lines[1])

    def test_cases_are_json_array_or_json_lines(self):
        rows = [{"method": "$/ping", "expect": "allow"}, {"method": "router.routes", "expect": "default"}]
        policy = self.file(rule(allow=["events.*"]))
        lines = "\n".join(json.dumps(row) for row in rows) + "\r\n\n"
        for text in (json.dumps(rows, indent=2), "\n" + lines, lines):
            for arguments, stdin in [([self.file(text, "cases.json")], ""), (["-"], text)]:
                done = subprocess.run(
                    [WAYBRIDGE, "policy", "test", policy, *arguments], input=stdin, capture_output=True, text=True,
                    timeout=30, env=environment({}),
                )  # fmt: skip
                self.assertEqual((0, "2 rows: 0 not as expected\n", ""), (done.returncode, done.stdout, done.stderr))

    def test_table_adds_route_names_permissions_and_redirects(self):
        table = self.file(
            {
                "version": "1",
                "routes": [
                    {"name": "cart", "pattern": "native://cart", "kind": "page"},
                    {"name": "desk", "pattern": "native://desk", "kind": "page", "permissions": ["staff"]},
                ],
                "redirects": [
                    {"from": "native://basket", "to": "native://cart"},
                    # A loop that only some callers are redirected into is not an error of the table.
                    {"from": "native://r/a", "branches": [{"share": 1, "to": "native://r/b"}]},
                    {"from": "native://r/b", "to": "native://r/a"},
                ],
            },
            "table.json",
        )  # fmt: skip
        policy = self.file(
            {"rules": [{"name": "r", "allow": ["*"]}, {"name": "no cart", "deny": ["*"], "routes": ["cart"]}]}
        )
        rows = [
            ({"uri": "native://cart"}, "allow", "no cart"),
            ({"uri": "native://basket"}, "allow", "no cart"),
            ({"uri": "native://desk"}, "allow", "permissions"),
            ({"uri": "native://desk", "token": {"groups": ["staff"]}}, "allow", "allow"),
            ({"uri": "native://other"}, "allow", "allow"),
        ]
        for column, arguments in [(1, []), (2, ["--table", table])]:
            cases = self.file([row[0] | {"method": "router.open", "expect": row[column]} for row in rows], "cases.json")
            self.assertEqual((0, "5 rows: 0 not as expected\n", ""), run("policy", "test", policy, cases, *arguments))
        cases = self.file([{"method": "router.open", "uri": "native://r/a", "expect": "allow"}], "cases.json")
        code, _, errors = run("policy", "test", policy, cases, "--table", table)
        self.assertEqual(1, code)
        self.assertIn("row 1 of the cases ", errors)
        self.assertIn("redirected in a loop", errors)

    def test_all_faults_of_cases_are_reported(self):
        rows = [
            {"method": "router.opne", "expect": "allow"},
            {"method": "router.open", "expect": "allow"},
            {"method": "events.subscribe", "uri": "a:b", "expect": "r"},
            {"method": "router.open", "uri": "a b", "expect": "allow"},
            {"method": "router.open", "uri": "relative", "expect": "allow"},
            {"method": "$/ping", "scheme": "a", "server": 1, "expect": "allow"},
            {"method": "host.register", "scheme": "a b", "expect": "stuff", "as": "x"},
            {"method": "router.*", "expect": "allow"},
            {"method": "$/ping", "token": {"sub": 1, "groups": ["", 2]}, "origin": 3},
            {"method": "$/ping", "expect": "stuff"},
            7,
            {"method": "events.publish", "expect": "allow"},
            {"method": "event", "topic": "a b", "expect": "allow"},
            {"method": "events.subscribe", "topic": "a", "expect": "allow"},
        ]
        code, output, errors = run("policy", "test", self.file(rule()), self.file(rows, "cases.json"))
        self.assertEqual((1, ""), (code, output))
        for text in (
            "\nrow 1: $.method: there is no method \"router.opne\"; did you mean router.open?\n",
            "\nrow 2: $: the member \"uri\" is missing", "\nrow 3: $.uri: events.subscribe has no URI",
            "\nrow 4: $.uri: \"a b\" is not a URI", "\nrow 5: $.uri: \"relative\" is not a URI",
            "\nrow 6: $.scheme: $/ping registers no host", "\nrow 6: $.server: has to be true or false",
            "\nrow 7: $.as: unknown member", "\nrow 7: $.scheme: \"a b\" is not a scheme",
            "\nrow 8: $.method: must name one method", "\nrow 9: $.token.sub: has to be a string",
            "\nrow 9: $.token.groups[0]: must not be empty", "\nrow 9: $.origin: has to be a string",
            "\nrow 9: $: the member \"expect\" is missing",
            '\nrow 10: $.expect: "stuff" is not a rule of the policy; use one of allow, default, permissions, r',
            "\nrow 11: $: has to be an object",
            "\nrow 12: $: the member \"topic\" is missing; events.publish is checked with its topic",
            "\nrow 13: $.topic: \"a b\" may hold ASCII", "\nrow 14: $.topic: events.subscribe has no topic; remove it",
        ):  # fmt: skip
            self.assertIn(text, errors)

    def test_unreadable_cases_are_reported(self):
        policy = self.file(rule())
        for content, text in [("[]", "have no row"), ("", "have no row"), ("[{,}]", "are not JSON"), ("{}\n{,}", "row 2 is not JSON")]:
            code, output, errors = run("policy", "test", policy, self.file(content, "cases.json"))
            self.assertEqual((1, ""), (code, output), content)
            self.assertIn(text, errors)
        self.assertIn('"/no/such.json" cannot be read', run("policy", "test", policy, "/no/such.json")[2])
        self.assertEqual(64, run("policy", "test", policy)[0])


class ServerPolicy(Files):
    def request(self, server, method, **params):
        with WebSocket(server.port) as client:
            client.send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
            return client.receive()

    def test_policy_applies_from_start(self):
        policy = self.file(rule(name="calls", allow=["router.*"], routes=["action://echo"]))
        config = self.file({"policy": "policy.json", "port": 0, "conformance": True}, "waybridge.json")
        for arguments, variables in [
            (["--policy", policy, "--port", "0", "--conformance"], {}),
            (["--port", "0", "--conformance"], {"WAYBRIDGE_POLICY": policy}),
            (["--config", config], {}),
        ]:
            with Server("serve", *arguments, **variables) as server:
                self.assertEqual({"a": 1}, self.request(server, "router.invoke", uri="action://echo", params={"a": 1})["result"])
                for method, params in [("router.invoke", {"uri": "action://other"}), ("navigation.stack", {})]:
                    error = self.request(server, method, **params)["error"]
                    self.assertEqual((2403, "default"), (error["code"], error["data"]["rule"]))

    def test_invalid_policy_prevents_start(self):
        path = self.file({"rules": [{"name": "default", "allow": ["a*b"]}, {"allow": ["*"]}]})
        code, output, errors = run("serve", "--port", "0", "--policy", path)
        self.assertEqual((1, ""), (code, output))
        for text in (f"the policy {path} is wrong:", "\n$.rules[0].name: ", "\n$.rules[0].allow[0]: ", "\n$.rules[1]: "):
            self.assertIn(text, errors)


if __name__ == "__main__":
    unittest.main()
