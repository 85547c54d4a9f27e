"""`waybridge routes check`, of a file and of a running bridge."""

import json
import pathlib
import re
import tempfile
import unittest

import jsonschema

from command import ROOT, Server, run
from rawsocket import WebSocket

DEMO = ROOT / "protocol/routes/demo.json"
SCHEMA = json.loads((ROOT / "protocol/schema/table.schema.json").read_text())


def route(**members):
    """A document with one route, a page, which also has these properties."""
    return {"version": "1", "routes": [{"name": "r", "pattern": "native://r", "kind": "page"} | members]}


def redirects(*redirects, **members):
    return {"version": "1", "routes": [], "redirects": list(redirects)} | members


# A document, whether the schema accepts it, and the output of the check; empty if it accepts it.
DOCUMENTS = [
    (route(parameters={"a": {"type": "object", "properties": {"b": {"type": "array", "items": {"type": "integer", "minimum": 1}}}, "required": ["b"]}}), True, []),
    (route(parameters={"a": {"type": ["string", "null"], "format": "date", "maxLength": 10}}, required=["a"]), True, []),
    (route(presentation={"style": "present", "animated": False, "navigation": False}), True, []),
    (route(release={"share": 0.25, "clients": {"shop": ">=5.2 <6", "*": "7"}}), True, []),
    (route(methods={"scroll": {"parameters": {"to": {"type": "string"}}, "required": ["to"], "result": {"type": "string"}}}), True, []),
    (route(result={"$ref": "#/types/A"}) | {"types": {"A": {"type": "object"}}}, True, []),
    (redirects({"from": "a://b", "branches": [{"share": 0.1, "to": "a://c"}, {"clients": {"*": "<2"}}, {"to": "a://d"}]}), True, []),
    ({"version": "1", "routes": [], "topics": {"cart.changed": {"data": {"type": "object"}}}}, True, []),
    (route(groups=["a"]) | {"groups": {"a": "A"}}, True, []),
    (route(presentation={"style": "pusch"}), False, ["$.routes[0].presentation.style: \"pusch\" is not known; did you mean \"push\"?"]),
    (route(release={"share": 20}), False, ["$.routes[0].release.share: has to be from 0 to 1; write 0.2 for 20 %"]),
    (route(release={}), False, ["$.routes[0].release: needs \"share\""]),
    (route(release={"clients": {"shop": "5.x"}}), False, ["$.routes[0].release.clients.shop: \"5.x\" is not a range of versions"]),
    (route(release={"clients": {"shop": ">6 <5"}}), True, ["$.routes[0].release.clients.shop: no version is in the range \">6 <5\""]),
    (route(required=["id"]), True, ["$.routes[0].required: \"id\" is not declared here"]),
    (route(parameters={"city": {"type": "string"}}, required=["ctiy"]), True, ["did you mean \"city\"?"]),
    (route(parameters={"a": {"type": "string", "required": True}}), False, ["list required names beside \"parameters\" or \"properties\""]),
    (route(parameters={"a": {"type": "string", "minimum": 1}}), False, ["$.routes[0].parameters.a.minimum: is not allowed for the type \"string\""]),
    (route(parameters={"a": {"type": "integer", "minimum": 2, "maximum": 1}}), True, ["no value is at least 2 and at most 1"]),
    (route(parameters={"a": {"type": "string", "format": "dates"}}), False, ["did you mean \"date\"?"]),
    (route(parameters={"a": {"type": "string", "format": "date", "default": "x"}}), True, ["the default is wrong at $.a"]),
    (route(result={"$ref": "#/types/A"}), True, ["$.routes[0].result['$ref']: \"A\" is not known"]),
    (route() | {"types": {"A": {"type": "array", "items": {"$ref": "#/types/B"}}, "B": {"$ref": "#/types/A"}}}, True, ["\"A\" contains itself: A → B → A"]),
    (route(groups=["acount"]) | {"groups": {"account": "A"}}, True, ["$.routes[0].groups: \"acount\" is not known; did you mean \"account\"?"]),
    (route(permissions=["stuff"]) | {"permissions": {"staff": "A"}}, True, ["did you mean \"staff\"?"]),
    (route(kind="task", presentation={"animated": True}, pattern="action://r"), False, ["only pages have a presentation"]),
    (route(kind="task", methods={}, pattern="action://r"), False, ["only pages have methods"]),
    (route(pattern="action://r"), True, ["$.routes[0]: "]),
    (redirects({"from": "a://b"}), False, ["$.redirects[0]: \"to\" or \"branches\" is missing"]),
    (redirects({"from": "a://b", "branches": []}), False, ["needs at least one branch"]),
    (redirects({"from": "a://b", "branches": [{"to": "a://c"}, {"to": "a://d"}]}), True, ["$.redirects[0].branches[1]: is never used"]),
    (redirects({"from": "a://b", "branches": [{"share": 0.7}, {"share": 0.7}]}), True, ["the shares up to here add up to more than 1"]),
    (redirects({"from": "a://b", "to": "a://c"}, {"from": "a://c", "to": "a://b"}), True, ["$.redirects[0]: redirects too often: a://b → a://c → a://b", "$.redirects[1]: redirects too often"]),
    ({"version": "1", "routes": [], "topics": {"page.mine": {}}}, False, ["topics that begin with \"page.\" are reserved for the server"]),
    ({"version": "1", "routes": [], "topics": {"a b": {}}}, False, ["is not a topic"]),
]  # fmt: skip


class CheckTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, document):
        path = self.folder / "routes.json"
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        return str(path)

    def check(self, document, *arguments):
        return run("routes", "check", self.write(document), *arguments)

    def test_schema_and_check_agree(self):
        validator = jsonschema.Draft202012Validator(SCHEMA)
        for document, fits, faults in DOCUMENTS:
            with self.subTest(document=document):
                self.assertEqual(fits, validator.is_valid(document))
                code, output, errors = self.check(document)
                self.assertEqual((1 if faults else 0, not faults), (code, output.startswith("ok: ")), errors)
                for fault in faults:
                    self.assertIn(fault, errors)

    def test_demo_table_is_valid_and_counted(self):
        code, output, errors = run("routes", "check", str(DEMO), "--strict")
        self.assertEqual((0, ""), (code, errors))
        document = json.loads(DEMO.read_text())
        self.assertGreaterEqual(len(document["routes"]), 60)
        self.assertTrue(output.startswith(f"ok: {len(document['routes'])} routes, {len(document['redirects'])} redirects, "))
        jsonschema.Draft202012Validator(SCHEMA).validate(document)

    def test_all_faults_are_reported_together(self):
        document = {
            "version": 1, "routes": [{"name": "a", "pattern": "/a", "kind": "page"}, {"name": "a", "pattern": "/a/", "kind": "pages"}],
            "redirect": [],
        }  # fmt: skip
        code, output, errors = self.check(document)
        self.assertEqual((1, ""), (code, output))
        faults = errors.splitlines()[1:]
        self.assertEqual(5, len(faults), errors)
        code, output, errors = self.check(document, "--json")
        self.assertEqual((1, ""), (code, errors))
        report = json.loads(output)
        self.assertFalse(report["ok"])
        found = [re.sub(r" \(line \d+, column \d+\)$", "", fault) for fault in faults]
        self.assertEqual(found, [f"{fault['path']}: {fault['message']}" for fault in report["faults"]])

    def test_unreachable_route_is_a_warning(self):
        document = {
            "version": "1",
            "routes": [
                {"name": "all", "pattern": "native://*", "kind": "page", "priority": 1},
                {"name": "hidden", "pattern": "native://a/:id", "kind": "page"},
                {"name": "moved", "pattern": "flutter://b", "kind": "page"},
                {"name": "any", "pattern": "/c", "kind": "page"},
                {"name": "seen", "pattern": "flutter://d(/:id)", "kind": "page"},
            ],
            "redirects": [{"from": "flutter://b", "to": "https://h5.example/b"}],
        }
        for arguments, expected in [([], 0), (["--strict"], 1)]:
            code, output, errors = self.check(document, *arguments)
            self.assertEqual(expected, code)
            self.assertEqual(
                [
                    "warning: $.routes[1]: the route \"hidden\" is never reached: \"all\" always matches before it",
                    "warning: $.routes[2]: the route \"moved\" is never reached: a redirect leads to \"https://h5.example/b\" instead",
                    "warning: $.routes[3]: the route \"any\" has no pattern with a scheme, so that no constant can be generated for it; add one that has",
                ],
                errors.splitlines(),
            )
        report = json.loads(self.check(document, "--json")[1])
        self.assertEqual((True, 3), (report["ok"], len(report["warnings"])))

    def test_undefined_target_of_open_scheme_is_a_warning(self):
        document = {
            "version": "1",
            "routes": [{"name": "upgrade", "pattern": "native://upgrade", "kind": "page"}],
            "schemes": {"native": {"undefined": "native://upgrade"}, "mini": {"closed": True, "undefined": "native://upgrade"}},
        }
        warning = (
            '$.schemes.native.undefined: is not reached while a client hosts the whole scheme "native", unless the client declines; '
            'add "closed": true, and such a client gets declared routes only'
        )
        for arguments, expected in [([], 0), (["--strict"], 1)]:
            code, _, errors = self.check(document, *arguments)
            self.assertEqual((expected, [f"warning: {warning}"]), (code, errors.splitlines()))
        document["schemes"]["native"]["closed"] = True
        self.assertEqual((0, ""), self.check(document, "--strict")[::2])

    def test_invalid_table_file_is_reported(self):
        for content, text in [("{", "is not JSON"), ('{"version": "1", "version": "2", "routes": []}', "is not JSON")]:
            code, output, errors = self.check(content)
            self.assertEqual((1, ""), (code, output))
            self.assertIn(text, errors)
        code, _, errors = run("routes", "check", str(self.folder / "none.json"))
        self.assertEqual(1, code)
        self.assertIn("none.json", errors)
        for arguments in [[], [str(DEMO), "--url", "ws://127.0.0.1:1/bridge"]]:
            self.assertEqual(64, run("routes", "check", *arguments)[0])

    def test_server_reports_missing_handlers(self):
        table = self.write({
            "version": "1",
            "routes": [
                {"name": "shown", "pattern": "native://a", "kind": "page"}, {"name": "missing", "pattern": "flutter://b", "kind": "page"},
            ],
        })  # fmt: skip
        policy = self.folder / "policy.json"
        policy.write_text('{"rules": [{"name": "all", "allow": ["*"]}]}')
        with Server("serve", "--table", table, "--policy", str(policy), "--port", "0") as server:
            host = WebSocket(server.port)
            self.addCleanup(host.close)
            host.send({"jsonrpc": "2.0", "id": 1, "method": "session.open", "params": {
                "client": {"name": "h", "version": "1"}, "hosts": [{"scheme": "native", "kind": "page"}, {"scheme": "old", "kind": "page"}],
            }})  # fmt: skip
            host.receive()
            code, output, errors = run("routes", "check", "--url", server.url)
            self.assertEqual((1, ""), (code, errors))
            self.assertEqual(
                [
                    "unserved: missing has no host now",
                    'hosts: {"scheme":"old","kind":"page"} is hosted by a client, but matches no route',
                ],
                output.splitlines(),
            )
            report = json.loads(run("routes", "check", "--url", server.url, "--json")[1])
            self.assertEqual((False, ["missing"]), (report["ok"], report["unserved"]))
        with Server("serve", "--table", table, "--port", "0") as server:
            code, _, errors = run("routes", "check", "--url", server.url)
            self.assertEqual(1, code)
            self.assertIn("2403", errors)

    def test_server_warns_of_undefined_target_that_a_host_hides(self):
        table = self.write({
            "version": "1",
            "routes": [{"name": "upgrade", "pattern": "native://upgrade", "kind": "page"}],
            "schemes": {"native": {"undefined": "native://upgrade"}},
        })  # fmt: skip
        policy = self.folder / "policy.json"
        policy.write_text('{"rules": [{"name": "all", "allow": ["*"]}]}')
        with Server("serve", "--table", table, "--policy", str(policy), "--port", "0") as server:
            host = WebSocket(server.port)
            self.addCleanup(host.close)
            host.send({"jsonrpc": "2.0", "id": 1, "method": "session.open", "params": {
                "client": {"name": "h", "version": "1"}, "hosts": [{"scheme": "native", "kind": "page"}],
            }})  # fmt: skip
            host.receive()
            for arguments, expected in [([], 0), (["--strict"], 1)]:
                code, output, errors = run("routes", "check", "--url", server.url, *arguments)
                self.assertEqual(expected, code, output)
                self.assertIn('warning: undefined: the undefined target or handler of the scheme "native" is not reached', errors)
                self.assertEqual(1, len(errors.splitlines()), errors)
            report = json.loads(run("routes", "check", "--url", server.url, "--json")[1])
            self.assertEqual((True, ["native"]), (report["ok"], report["undefined"]))


if __name__ == "__main__":
    unittest.main()
