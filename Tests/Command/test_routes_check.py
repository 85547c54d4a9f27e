"""`waybridge routes check`, of a file and of a running bridge."""

import json
import pathlib
import tempfile
import unittest

import jsonschema

from command import ROOT, Server, run
from rawsocket import WebSocket

DEMO = ROOT / "protocol/routes/demo.json"
SCHEMA = json.loads((ROOT / "protocol/schema/table.schema.json").read_text())


def route(**members):
    """A document with one route, a page, which has these members besides."""
    return {"version": "1", "routes": [{"name": "r", "pattern": "native://r", "kind": "page"} | members]}


def redirects(*redirects, **members):
    return {"version": "1", "routes": [], "redirects": list(redirects)} | members


# A document, whether the schema takes it, and what the check tells; nothing where it takes it.
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
    (route(presentation={"style": "pusch"}), False, ["$.routes[0].presentation.style: 'pusch' is not known; did you mean 'push'?"]),
    (route(release={"share": 20}), False, ["$.routes[0].release.share: has to be from 0 to 1; write 0.2 for 20 %"]),
    (route(release={}), False, ["$.routes[0].release: says for whom"]),
    (route(release={"clients": {"shop": "5.x"}}), False, ["$.routes[0].release.clients.shop: '5.x' are no versions"]),
    (route(release={"clients": {"shop": ">6 <5"}}), True, ["$.routes[0].release.clients.shop: no version is '>6 <5'"]),
    (route(required=["id"]), True, ["$.routes[0].required: 'id' is not declared here"]),
    (route(parameters={"city": {"type": "string"}}, required=["ctiy"]), True, ["did you mean 'city'?"]),
    (route(parameters={"a": {"type": "string", "required": True}}), False, ["is listed beside 'parameters' or 'properties'"]),
    (route(parameters={"a": {"type": "string", "minimum": 1}}), False, ["$.routes[0].parameters.a.minimum: does not go with the type 'string'"]),
    (route(parameters={"a": {"type": "integer", "minimum": 2, "maximum": 1}}), True, ["nothing is at least 2 and at most 1"]),
    (route(parameters={"a": {"type": "string", "format": "dates"}}), False, ["did you mean 'date'?"]),
    (route(parameters={"a": {"type": "string", "format": "date", "default": "x"}}), True, ["the default is wrong at $.a"]),
    (route(result={"$ref": "#/types/A"}), True, ["$.routes[0].result['$ref']: 'A' is not known"]),
    (route() | {"types": {"A": {"type": "array", "items": {"$ref": "#/types/B"}}, "B": {"$ref": "#/types/A"}}}, True, ["'A' holds itself: A → B → A"]),
    (route(groups=["acount"]) | {"groups": {"account": "A"}}, True, ["$.routes[0].groups: 'acount' is not known; did you mean 'account'?"]),
    (route(permissions=["stuff"]) | {"permissions": {"staff": "A"}}, True, ["did you mean 'staff'?"]),
    (route(kind="task", presentation={"animated": True}, pattern="action://r"), False, ["only pages have a presentation"]),
    (route(kind="task", methods={}, pattern="action://r"), False, ["only pages have methods"]),
    (route(pattern="action://r"), True, ["$.routes[0]: "]),
    (redirects({"from": "a://b"}), False, ["$.redirects[0]: the member 'to' is missing; or give 'branches'"]),
    (redirects({"from": "a://b", "branches": []}), False, ["needs at least one branch"]),
    (redirects({"from": "a://b", "branches": [{"to": "a://c"}, {"to": "a://d"}]}), True, ["$.redirects[0].branches[1]: is never taken"]),
    (redirects({"from": "a://b", "branches": [{"share": 0.7}, {"share": 0.7}]}), True, ["the shares up to here are more than 1"]),
    (redirects({"from": "a://b", "to": "a://c"}, {"from": "a://c", "to": "a://b"}), True, ["$.redirects[0]: leads on too often: a://b → a://c → a://b", "$.redirects[1]: leads on"]),
    ({"version": "1", "routes": [], "topics": {"page.mine": {}}}, False, ["topics that begin with 'page.' are the server's own"]),
    ({"version": "1", "routes": [], "topics": {"a b": {}}}, False, ["is no topic"]),
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

    def test_the_schema_and_the_check_agree(self):
        validator = jsonschema.Draft202012Validator(SCHEMA)
        for document, fits, faults in DOCUMENTS:
            with self.subTest(document=document):
                self.assertEqual(fits, validator.is_valid(document))
                code, output, errors = self.check(document)
                self.assertEqual((1 if faults else 0, not faults), (code, output.startswith("ok: ")), errors)
                for fault in faults:
                    self.assertIn(fault, errors)

    def test_the_demos_table_is_well_and_counted(self):
        code, output, errors = run("routes", "check", str(DEMO), "--strict")
        self.assertEqual((0, ""), (code, errors))
        document = json.loads(DEMO.read_text())
        self.assertGreaterEqual(len(document["routes"]), 60)
        self.assertTrue(output.startswith(f"ok: {len(document['routes'])} routes, {len(document['redirects'])} redirects, "))
        jsonschema.Draft202012Validator(SCHEMA).validate(document)

    def test_all_faults_are_told_at_once_also_as_json(self):
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
        told = json.loads(output)
        self.assertFalse(told["ok"])
        self.assertEqual(faults, [f"{fault['path']}: {fault['message']}" for fault in told["faults"]])

    def test_what_nothing_leads_to_is_a_warning(self):
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
                    "warning: $.routes[1]: nothing leads to the route 'hidden': 'all' is always found before it",
                    "warning: $.routes[2]: nothing leads to the route 'moved': a redirect leads to 'https://h5.example/b' instead",
                    "warning: $.routes[3]: the route 'any' has no pattern with a scheme, so that no constant can be generated for it; add one that has",
                ],
                errors.splitlines(),
            )
        told = json.loads(self.check(document, "--json")[1])
        self.assertEqual((True, 3), (told["ok"], len(told["warnings"])))

    def test_what_is_no_table_at_all(self):
        for content, text in [("{", "is not JSON"), ('{"version": "1", "version": "2", "routes": []}', "is not JSON")]:
            code, output, errors = self.check(content)
            self.assertEqual((1, ""), (code, output))
            self.assertIn(text, errors)
        code, _, errors = run("routes", "check", str(self.folder / "none.json"))
        self.assertEqual(1, code)
        self.assertIn("none.json", errors)
        for arguments in [[], [str(DEMO), "--url", "ws://127.0.0.1:1/bridge"]]:
            self.assertEqual(64, run("routes", "check", *arguments)[0])

    def test_a_bridge_tells_what_it_lacks(self):
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
                    "unserved: missing waits for a host, and has none now",
                    'hosts: {"scheme":"old","kind":"page"} is hosted by a client, and no route means it',
                ],
                output.splitlines(),
            )
            told = json.loads(run("routes", "check", "--url", server.url, "--json")[1])
            self.assertEqual((False, ["missing"]), (told["ok"], told["unserved"]))
        with Server("serve", "--table", table, "--port", "0") as server:
            code, _, errors = run("routes", "check", "--url", server.url)
            self.assertEqual(1, code)
            self.assertIn("2403", errors)


if __name__ == "__main__":
    unittest.main()
