"""The Dart package in web/flutter, as far as that goes without a Dart compiler: its files are parsed, what they name is looked for,
and its pure part is read as TypeScript, compiled, and run by Node: its own tests, and against a server."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/Command"))
import pypi  # noqa: E402

WAYBRIDGE = os.environ.get("WAYBRIDGE")
if not WAYBRIDGE:
    raise RuntimeError("WAYBRIDGE must hold the path of the waybridge executable")

PACKAGE = ROOT / "web/flutter"
SOURCES = sorted(PACKAGE.glob("lib/src/*.dart"))
FLUTTER = sorted(PACKAGE.glob("lib/src/flutter/*.dart"))
SUPPORT = sorted(PACKAGE.glob("test/support/*.dart"))
TESTS = sorted(PACKAGE.glob("test/*.dart"))
FILES = sorted(path for path in PACKAGE.rglob("*.dart"))
RUNTIME = [ROOT / "Tests/Dart/runtime.ts", ROOT / "Tests/Dart/runtime_test.ts"]
OPENRPC = json.loads((ROOT / "protocol/openrpc.json").read_text())
STATES = json.loads((ROOT / "protocol/states.json").read_text())
CODES = json.loads((ROOT / "protocol/codes.json").read_text())
TSC = ["tsc", "--strict", "--noImplicitReturns", "--noFallthroughCasesInSwitch", "--target", "es2022", "--module", "es2022", "--lib", "es2022", "--noEmit"]

ENVIRONMENT, REASON = pypi.installed(*pypi.DART)
if ENVIRONMENT is not None:
    sys.path[:0] = [str(path) for path in ENVIRONMENT.glob("lib/*/site-packages")]
    import dart_symbols
    import translate


def params_of(method):
    """The names of a method's params."""
    parts = OPENRPC["components"]["contentDescriptors"]
    return {each.get("name") or parts[each["$ref"].rpartition("/")[2]]["name"] for each in method["params"]}


class Package(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        if REASON:
            self.skipTest(REASON)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name):
        return dart_symbols.File(PACKAGE / name)

    def translated(self, *paths, rest=""):
        """The program that is made of Dart files."""
        program = self.folder / f"program{len(list(self.folder.iterdir()))}.ts"
        translate.main(program, *(str(path) for path in [*RUNTIME, *paths]))
        program.write_text(program.read_text() + rest)
        return program

    def compiled(self, *programs):
        """What the compiler says, each fault one line."""
        return subprocess.run([*TSC, *programs], capture_output=True, text=True, cwd=self.folder).stdout.splitlines()


class Files(Package):
    def test_each_file_is_dart(self):
        self.assertGreater(len(FILES), 40)
        for path in FILES:
            self.assertEqual([], dart_symbols.File(path).faults())
        broken = self.folder / "broken.dart"
        broken.write_text((PACKAGE / "lib/src/call.dart").read_text().replace("final class Call {", "final class Call {{"))
        self.assertNotEqual([], dart_symbols.File(broken).faults())

    def test_each_file_is_short_and_has_short_lines(self):
        for path in FILES:
            lines = path.read_text().split("\n")
            self.assertLessEqual(len(lines), 300, path)
            self.assertEqual([], [line for line in lines if len(line) > 80 or "\t" in line or line.rstrip() != line], path)

    def test_imports_are_those_that_are_used(self):
        for test in TESTS:
            package = dart_symbols.Package([*SOURCES, *SUPPORT, test])
            translate.translated(package)
            for file in package.files:
                self.assertEqual(
                    package.uses.get(file.path, set()) - {file.path}, {self.resolved(file.path, uri) for uri in file.imports}, file.path)

    def resolved(self, path, uri):
        """The file that is imported, or the library."""
        if uri.startswith("package:waybridge/"):
            return PACKAGE / "lib" / uri.removeprefix("package:waybridge/")
        return uri if ":" in uri else pathlib.Path(os.path.normpath(path.parent / uri))

    def test_imports_and_exports_are_there(self):
        manifest = (PACKAGE / "pubspec.yaml").read_text()
        for path in FILES:
            file = dart_symbols.File(path)
            for uri in [*file.imports, *file.exports]:
                found = self.resolved(path, uri)
                if isinstance(found, pathlib.Path):
                    self.assertTrue(found.exists(), f"{path}: {uri}")
                elif uri.startswith("package:"):
                    self.assertIn(f"  {uri[8:].partition('/')[0]}:", manifest, f"{path}: {uri}")
            for uri, names in file.exports.items():
                declared = dart_symbols.File(self.resolved(path, uri)).declared
                self.assertEqual(set(), set(names) - set(declared), f"{path}: {uri}")
                self.assertEqual(sorted(names), names)

    def test_what_flutter_code_names_is_imported(self):
        """The code that no compiler reads: each name of the package in it comes by an import."""
        public = dart_symbols.Package([*SOURCES, *FLUTTER]).declared
        for path in [*FLUTTER, PACKAGE / "lib/channel.dart", PACKAGE / "example/main.dart"]:
            file = dart_symbols.File(path)
            known = set(file.declared)
            for uri in file.imports:
                found = self.resolved(path, uri)
                if isinstance(found, pathlib.Path):
                    other = dart_symbols.File(found)
                    known |= set(other.declared) | {name for names in other.exports.values() for name in names}
            named = {dart_symbols.text(each) for each in dart_symbols.descend(file.root, "identifier", "type_identifier")}
            classes = {name for name, each in public.items() if name[0].isupper()}
            self.assertEqual(set(), (named & classes) - known, path)


    def test_the_examples_of_the_page_are_dart(self):
        blocks = re.findall(r"^```dart\n(.*?)^```$", (PACKAGE / "README.md").read_text(), re.S | re.M)
        self.assertGreater(len(blocks), 2)
        declared = set(dart_symbols.Package([*SOURCES, *FLUTTER]).declared)
        for block in blocks:
            path = self.folder / "block.dart"
            # What stands in a function may stand in a page without it.
            for text in (block, f"void example() async {{\n{block}\n}}\n"):
                path.write_text(text)
                file = dart_symbols.File(path)
                if not file.faults():
                    break
            self.assertEqual([], file.faults(), block)
            named = {dart_symbols.text(each) for each in dart_symbols.descend(file.root, "type_identifier")}
            own = {"Uri", "String", "Object", "Future", "Shop", "RouteClient", "ReviewPage"}
            self.assertEqual(set(), named - declared - own - {"void"}, block)


class Protocol(Package):
    def sent(self):
        """The methods that the client names, each with the members of the maps beside it."""
        for path in SOURCES:
            for call in dart_symbols.descend(dart_symbols.File(path).root, "arguments"):
                given = dart_symbols.children(call, "argument")
                first = dart_symbols.text(given[0]).strip("'") if given else ""
                if re.fullmatch(r"[a-z]+\.[a-zA-Z]+", first):
                    inside = dart_symbols.descend(call, "pair")
                    names = [re.match(r"'(\w+)':", dart_symbols.text(pair)) for pair in inside]
                    yield path, first, {name[1] for name in names if name}

    def test_each_method_is_offered(self):
        code = "".join(path.read_text() for path in SOURCES)
        for part in ("methods", "x-server-methods", "x-notifications"):
            # To look into a server is the inspector's, not an app's.
            names = {each["name"] for each in OPENRPC[part] if not each["name"].startswith("admin.")}
            self.assertEqual(set(), {name for name in names if f"'{name}'" not in code})

    def test_each_parameter_is_one_of_the_protocol(self):
        methods = {each["name"]: params_of(each) for each in OPENRPC["methods"]}
        seen = set()
        for path, method, names in self.sent():
            if method not in methods:
                continue
            # `{session, token}` of `join`, and the shapes of hosts and results, lie within.
            self.assertEqual(set(), names - methods[method] - {"session"}, f"{path}: {method}")
            seen |= {(method, name) for name in names}
        for needed in [("router.open", "deadlineMs"), ("session.invite", "expiresMs"), ("table.update", "operations"), ("page.call", "key")]:
            self.assertIn(needed, seen)

    def constants(self, file, name):
        """The constants of a class, as they stand there."""
        members = self.file(file).declared[name].members
        return {each.name: int(dart_symbols.text(each.value[0])) for each in members.values() if each.kind == "field" and not each.name.startswith("_")}

    def test_codes_are_those_of_the_registry(self):
        self.assertEqual({each["kind"]: each["code"] for each in CODES["errors"]}, self.constants("lib/src/codes.dart", "ErrorCode"))
        self.assertEqual({each["kind"]: each["code"] for each in CODES["closes"]}, self.constants("lib/src/codes.dart", "CloseCode"))

    def test_tables_are_those_of_the_data(self):
        declared = self.file("lib/src/states.dart").declared
        for name, machine in STATES.items():
            pairs = re.findall(r"(\w+)State\.(\w+): <|(\w+)Event\.(\w+): (\w+)State\.(\w+)", dart_symbols.text(declared[f"{name}Table"].node))
            found, state = [], None
            for kind, begin, _, event, _, to in pairs:
                if kind:
                    state = begin
                else:
                    found.append([state, event, to])
            self.assertEqual(sorted(machine["transitions"]), sorted(found))
            start = dart_symbols.text(declared[f"{name}Start"].node)
            self.assertEqual(f"{name.capitalize()}State.{machine['initial']}", start.rpartition(" ")[2])

    def test_what_generated_routes_need_is_offered(self):
        """`RouteClient` in the files of `routes generate` has the methods of `RouteCalls`, with their types."""
        generated = (ROOT / "Sources/WayTableTools/DartCode+Fixed.swift").read_text()
        interface = re.search(r"abstract class RouteClient \{(.*?)\n    \}", generated, re.S)[1]
        wanted = {" ".join(line.split()) for line in re.findall(r"^ *(\w[^/\n]*\));", interface, re.M)}
        self.assertEqual(4, len(wanted))
        members = self.file("lib/src/route_calls.dart").declared["RouteCalls"].members.values()
        offered = {re.sub(r",? ?\)$", ")", re.sub(r"\( ", "(", " ".join(dart_symbols.text(each.node).split()))) for each in members if each.kind == "method"}
        self.assertEqual(wanted, offered)


# What Dart's compiler would refuse: what is to be replaced, and by what.
MISTAKES = {
    "a field is not what it was a moment ago": ("    final socket = _socket;\n    if (_isOver", "    _socket?.add('');\n    if (_socket != null) _socket.add(text);\n    final socket = _socket;\n    if (_isOver"),
    "an argument is missing": ("Close(1006, '$error', cause: error)", "Close(1006, cause: error)"),
    "an argument of another name": ("Close(1006, '$error', cause: error)", "Close(1006, '$error', reason: error)"),
    "a text for a number": ("Close(socket.closeCode ?? 1006,", "Close(socket.closeReason ?? 1006,"),
    "null where there must be a value": ("Close(socket.closeCode ?? 1006,", "Close(socket.closeCode,"),
    "a name that is not there": ("_failure = '$error';", "_fault = '$error';"),
    "a member that is not there": ("socket.add(text);", "socket.push(text);"),
    "a constant that is not there": ("CloseCode.reconnecting", "CloseCode.again"),
    "a field without a value": ("  bool _isOver = false;", "  bool _isOver;"),
    "a final field that is set": ("  String _failure = '';", "  final String _failure = '';"),
}


class Compiled(Package):
    def test_mistakes_do_not_compile(self):
        source = (PACKAGE / "lib/src/connection.dart").read_text()
        others = [path for path in SOURCES if path.name != "connection.dart"]
        broken, programs = self.folder / "connection.dart", {}
        for what, (before, after) in MISTAKES.items():
            self.assertIn(before, source)
            broken.write_text(source.replace(before, after))
            try:
                programs[what] = self.translated(*others, broken)
            except SystemExit as end:
                # The reader itself has refused it.
                self.assertIn("connection.dart", str(end))
        faults = self.compiled(*programs.values())
        for what, program in programs.items():
            self.assertTrue(any(program.name in fault for fault in faults), what)

    def run_tests(self, program, **environment):
        """Runs a program's tests; gives how many passed."""
        script = program.with_suffix(".mjs")
        subprocess.run(["esbuild", "--log-level=error", "--format=esm", program, f"--outfile={script}"], check=True)
        vectors = str(ROOT / "protocol/vectors")
        done = subprocess.run(
            ["node", "--test-reporter=tap", script], capture_output=True, text=True, timeout=60, env=os.environ | {"WAYBRIDGE_VECTORS": vectors} | environment)
        self.assertEqual(0, done.returncode, done.stdout[-4000:] + done.stderr)
        return int(re.search(r"^# pass (\d+)", done.stdout, re.M)[1])

    def test_its_own_tests_pass(self):
        programs = {test.name: self.translated(*SOURCES, *SUPPORT, test) for test in TESTS}
        self.assertEqual([], self.compiled(*programs.values()))
        played = re.search(r"(\d+) transcripts", (PACKAGE / "README.md").read_text())[1]
        for name, program in programs.items():
            with self.subTest(name):
                passed = self.run_tests(program)
                # One test counts the others.
                self.assertIn(passed, [int(played) + 1] if name == "vectors_test.dart" else range(1, 100))

    def test_the_host_of_a_navigator(self):
        """With what stands in for Flutter."""
        here = ROOT / "Tests/Dart"
        program = self.translated(
            *SOURCES, *SUPPORT, here / "flutter.dart", PACKAGE / "lib/src/flutter/navigator_host.dart", here / "navigator_host.dart")
        self.assertEqual([], self.compiled(program))
        self.assertGreaterEqual(self.run_tests(program), 4)

    def test_it_works_with_a_server(self):
        program = self.translated(*SOURCES, rest=(ROOT / "Tests/Dart/live.ts").read_text())
        self.assertEqual([], self.compiled(program))
        command = [WAYBRIDGE, "serve", "--conformance", "--table", ROOT / "protocol/routes/demo.json", "--port", "0"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(lambda: (server.kill(), server.wait(), server.stdout.close()))
        address = server.stdout.readline().strip().removeprefix("listening on http://")
        self.assertEqual(1, self.run_tests(program, WAYBRIDGE_URL=f"ws://{address}/bridge"))


if __name__ == "__main__":
    unittest.main()
