"""The shapes that PROTOCOL.md gives are types, and the messages of its examples have them."""

import json
import re
import subprocess
import tempfile
import unittest

from readme import ROOT, all_blocks, fenced

PROTOCOL = ROOT / "protocol/PROTOCOL.md"
PART = re.compile(r"^(?:(params|result)(\??):|type (\w+) =) ?", re.M)


def type_name(part, method):
    """The name of the type of a method's params or result."""
    return part + "_" + re.sub(r"\W", "_", method)


def sections():
    """The methods that each heading names, with the `ts` blocks below it."""
    found = []
    for text in re.split(r"^(?=#+ )", PROTOCOL.read_text(), flags=re.M):
        heading = text.partition("\n")[0].lstrip("# ")
        methods = [name for name in heading.split(", ") if re.fullmatch(r"[\w$]+[./]?\w*", name)]
        found.append((methods, [block.text for block in fenced(PROTOCOL, text) if block.language == "ts"]))
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
    for block in all_blocks("json"):
        methods = {}
        if not block.place.startswith("protocol/"):
            continue
        for line in block.text.splitlines():
            message = json.loads(line) if line.startswith('{"jsonrpc"') else {}
            if "method" in message:
                methods[message.get("id")] = message["method"]
                yield type_name("params", message["method"]), message.get("params")
            elif "error" in message:
                yield "ResponseError", message["error"]
            elif "result" in message:
                yield type_name("result", methods[message["id"]]), message["result"]


def faults(lines):
    """What the compiler says of a module."""
    with tempfile.NamedTemporaryFile("w", suffix=".ts") as file:
        file.write("\n".join([*lines, "export {};", ""]))
        file.flush()
        done = subprocess.run(
            ["tsc", "--noEmit", "--strict", "--target", "ES2022", file.name], capture_output=True, text=True
        )
    return (done.stdout + done.stderr).strip() if done.returncode else ""


# Notifications, whose shapes PROTOCOL.md tells in words.
WITHOUT_SHAPE = {"params_page_resume", "params___progress", "params___cancelRequest"}


class Shapes(unittest.TestCase):
    maxDiff = None

    def test_the_examples_have_the_shapes(self):
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

    def test_a_message_of_another_shape_is_a_fault(self):
        wrong = 'const value: params_router_open = {"uri": "native://a", "stile": "push"};'
        self.assertIn("stile", faults([*declarations(), wrong]))


if __name__ == "__main__":
    unittest.main()
