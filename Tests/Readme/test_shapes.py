"""The shapes in the protocol's documents are types; the examples there and in openrpc.json match them, and openrpc.json's own schemas."""

import json
import re
import subprocess
import tempfile
import unittest

import messages
from readme import ROOT, fenced

DOCUMENTS = sorted((ROOT / "protocol").glob("*.md"))
PART = re.compile(r"^(?:(params|result)(\??):|type (\w+) =) ?", re.M)


def type_name(part, method):
    """The name of the type of a method's params or result."""
    return part + "_" + re.sub(r"\W", "_", method)


def sections():
    """The methods that each heading names, with the `ts` blocks below it."""
    found = []
    for path in DOCUMENTS:
        for text in re.split(r"^(?=#+ )", path.read_text(), flags=re.M):
            heading = text.partition("\n")[0].lstrip("# ")
            methods = [name for name in heading.split(", ") if re.fullmatch(r"[\w$]+[./]?\w*", name)]
            found.append((methods, [block.text for block in fenced(path, text) if block.language == "ts"]))
    return found


def declarations():
    """The shapes, each as the declaration of a type."""
    lines = []
    for methods, blocks in sections():
        for block in blocks:
            starts = list(PART.finditer(block))
            if not starts or starts[0].start() != 0:
                raise AssertionError(f"a shape begins with params, result or type:\n{block}")
            for start, end in zip(starts, [each.start() for each in starts[1:]] + [len(block)]):
                shape = block[start.end() : end].strip()
                part, optional, own = start.groups()
                if own is not None:
                    lines.append(f"type {own} = {shape};")
                    continue
                if not methods:
                    raise AssertionError(f"a shape of no method:\n{block}")
                absent = " | undefined" if optional else ""
                lines += [f"type {type_name(part, method)} = ({shape}\n){absent};" for method in methods]
    return lines


def examples():
    """The params, results and errors of the examples, with the names of their types."""
    for block in (block for path in DOCUMENTS for block in fenced(path) if block.language == "json"):
        methods = {}
        for line in block.text.splitlines():
            message = json.loads(line) if line.startswith('{"jsonrpc"') else {}
            if "method" in message:
                methods[message.get("id")] = message["method"]
                yield type_name("params", message["method"]), message.get("params")
            elif "error" in message:
                yield "ResponseError", message["error"]
            elif "result" in message:
                yield type_name("result", methods[message["id"]]), message["result"]


def openrpc_examples():
    """The params and results of the examples in openrpc.json, with the names of their types. PROTOCOL.md gives the params of
    `page.call` as a client sends them."""
    for part in ("methods", "x-server-methods"):
        for method in messages.DOCUMENT[part]:
            for example in method["examples"]:
                if example["params"] and (part, method["name"]) != ("x-server-methods", "page.call"):
                    yield type_name("params", method["name"]), {each["name"]: each["value"] for each in example["params"]}
                yield type_name("result", method["name"]), example["result"]["value"]


def faults(lines):
    """What the compiler says of a module."""
    with tempfile.NamedTemporaryFile("w", suffix=".ts") as file:
        file.write("\n".join([*lines, "export {};", ""]))
        file.flush()
        done = subprocess.run(
            ["tsc", "--noEmit", "--strict", "--target", "ES2022", file.name], capture_output=True, text=True
        )
    return (done.stdout + done.stderr).strip() if done.returncode else ""


# Notifications with a shape that PROTOCOL.md describes in words.
WITHOUT_SHAPE = {"params___progress", "params___cancelRequest"}


class Shapes(unittest.TestCase):
    maxDiff = None

    def test_examples_match_the_types(self):
        types = declarations()
        named = {line.split()[1] for line in types}
        values, without = [], set()
        for number, (name, value) in enumerate(examples()):
            if name in named:
                values.append(f"const value{number}: {name} = {json.dumps(value)};")
            else:
                without.add(name)
        self.assertEqual(WITHOUT_SHAPE, without)
        self.assertEqual("", faults(types + values))

    def test_openrpc_examples_match_the_types(self):
        types = declarations()
        named = {line.split()[1] for line in types}
        values = [(name, value) for name, value in openrpc_examples() if name in named]
        self.assertGreater(len(values), 40)
        lines = [f"const value{number}: {name} = {json.dumps(value)};" for number, (name, value) in enumerate(values)]
        self.assertEqual("", faults(types + lines))

    def test_message_with_unknown_property_is_a_fault(self):
        wrong = 'const value: params_router_open = {"uri": "native://a", "stile": "push"};'
        self.assertIn("stile", faults([*declarations(), wrong]))


class OpenRPCExamples(unittest.TestCase):
    def test_every_method_has_an_example_that_matches_its_schemas(self):
        for part in ("methods", "x-server-methods", "x-notifications"):
            for method in messages.DOCUMENT[part]:
                with self.subTest(method["name"], part=part):
                    self.assertTrue(method.get("examples"))
                    for example in method["examples"]:
                        self.assertEqual([], messages.faults_of_example(example, method))

    def test_faults_of_example_are_found(self):
        method = messages.METHODS["navigation.finish"]
        result = {"name": "change", "value": {"page": None, "closed": ["p1"]}}
        good = {"params": [{"name": "page", "value": "p1"}], "result": result}
        self.assertEqual([], messages.faults_of_example(good, method))
        for wrong in (
            good | {"params": [{"name": "page", "value": 1}]},
            good | {"params": [{"name": "pages", "value": "p1"}]},
            good | {"params": good["params"] * 2},
            good | {"result": {"name": "change", "value": {"page": None}}},
            good | {"result": result | {"name": "value"}},
            {"params": []},
        ):
            self.assertEqual(1, len(messages.faults_of_example(wrong, method)), wrong)


if __name__ == "__main__":
    unittest.main()
