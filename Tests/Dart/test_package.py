"""The Dart packages in web/dart and web/flutter, as far as they can be tested without a Dart compiler: their files are parsed and their
names resolved. The package without Flutter is translated to TypeScript, compiled, and run by Node: its own tests, and with a server."""

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

PACKAGE = ROOT / "web/dart"
FLUTTER_PACKAGE = ROOT / "web/flutter"
PACKAGES = {"waybridge": PACKAGE, "waybridge_flutter": FLUTTER_PACKAGE}
SOURCES = sorted(PACKAGE.glob("lib/src/*.dart"))
FLUTTER = sorted(FLUTTER_PACKAGE.glob("lib/src/*.dart"))
SUPPORT = sorted(PACKAGE.glob("test/support/*.dart"))
TESTS = sorted(PACKAGE.glob("test/*.dart"))
FILES = sorted(path for package in PACKAGES.values() for path in package.rglob("*.dart"))
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


def manifest(package):
    """The properties of a package's pubspec.yaml, and its maps of properties. A comment, and a line of a long text, is left out."""
    properties, inner = {}, {}
    for line in (package / "pubspec.yaml").read_text().splitlines():
        match = re.fullmatch(r"(  )?([a-z_]+):(?: (.*))?", line)
        if match and match[1]:
            inner[match[2]] = (match[3] or "").strip('"')
        elif match:
            inner = {}
            properties[match[2]] = match[3] or inner
    return properties


def package_of(path):
    return next(package for package in PACKAGES.values() if path.is_relative_to(package))


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
        """The program that is created from Dart files."""
        program = self.folder / f"program{len(list(self.folder.iterdir()))}.ts"
        translate.main(program, *(str(path) for path in [*RUNTIME, *paths]))
        program.write_text(program.read_text() + rest)
        return program

    def compiled(self, *programs):
        """The output of the compiler, one line for each error."""
        return subprocess.run([*TSC, *programs], capture_output=True, text=True, cwd=self.folder).stdout.splitlines()


class Files(Package):
    def test_every_file_is_valid_dart(self):
        self.assertGreater(len(FILES), 40)
        for path in FILES:
            self.assertEqual([], dart_symbols.File(path).faults())
        broken = self.folder / "broken.dart"
        broken.write_text((PACKAGE / "lib/src/call.dart").read_text().replace("final class Call {", "final class Call {{"))
        self.assertNotEqual([], dart_symbols.File(broken).faults())

    def test_files_and_lines_are_short(self):
        for path in FILES:
            lines = path.read_text().split("\n")
            self.assertLessEqual(len(lines), 300, path)
            self.assertEqual([], [line for line in lines if len(line) > 80 or "\t" in line or line.rstrip() != line], path)

    def test_imports_match_their_use(self):
        for test in TESTS:
            package = dart_symbols.Package([*SOURCES, *SUPPORT, test])
            translate.translated(package)
            for file in package.files:
                self.assertEqual(
                    package.uses.get(file.path, set()) - {file.path}, {self.resolved(file.path, uri) for uri in file.imports}, file.path)

    def resolved(self, path, uri):
        """The file or the library that is imported."""
        name, _, inside = uri.removeprefix("package:").partition("/")
        if uri.startswith("package:") and name in PACKAGES:
            return PACKAGES[name] / "lib" / inside
        return uri if ":" in uri else pathlib.Path(os.path.normpath(path.parent / uri))

    def test_imported_and_exported_files_exist(self):
        for path in FILES:
            file, package = dart_symbols.File(path), package_of(path)
            properties = manifest(package)
            usable = {properties["name"], *properties["dependencies"]}
            if not path.is_relative_to(package / "lib"):
                usable |= set(properties["dev_dependencies"])
            for uri in [*file.imports, *file.exports]:
                found = self.resolved(path, uri)
                if uri.startswith("package:"):
                    self.assertIn(uri[8:].partition("/")[0], usable, f"{path}: {uri}")
                if isinstance(found, pathlib.Path):
                    self.assertTrue(found.exists(), f"{path}: {uri}")
                    if not found.is_relative_to(package):
                        self.assertRegex(uri, r"^package:\w+/\w+\.dart$", f"{path}: only a public library of another package")
            for uri, names in file.exports.items():
                if names:
                    declared = dart_symbols.File(self.resolved(path, uri)).declared
                    self.assertEqual(set(), set(names) - set(declared), f"{path}: {uri}")
                    self.assertEqual(sorted(names), names)

    def test_manifests_describe_both_packages(self):
        npm = json.loads((ROOT / "web/bridge/package.json").read_text())
        for name, package in PACKAGES.items():
            properties = manifest(package)
            self.assertEqual(name, properties["name"])
            self.assertEqual(npm["version"], properties["version"])
            self.assertIn(f"## {properties['version']}\n", (package / "CHANGELOG.md").read_text())
            page = npm["homepage"].removesuffix("#readme")
            self.assertEqual([page, page, npm["bugs"]], [properties[each] for each in ("homepage", "repository", "issue_tracker")])
            lints = re.match(r"include: package:(\w+)/", (package / "analysis_options.yaml").read_text())[1]
            self.assertIn(lints, properties["dev_dependencies"])
            self.assertEqual((ROOT / "LICENSE").read_bytes(), (package / "LICENSE").read_bytes())

    def test_plain_package_does_not_need_flutter(self):
        text = (PACKAGE / "pubspec.yaml").read_text() + (PACKAGE / "analysis_options.yaml").read_text()
        self.assertNotIn("flutter", text)
        properties = manifest(FLUTTER_PACKAGE)
        self.assertEqual(manifest(PACKAGE)["environment"]["sdk"], properties["environment"]["sdk"])
        self.assertIn("  waybridge:\n    path: ../dart\n", (FLUTTER_PACKAGE / "pubspec.yaml").read_text())

    def exported(self, path):
        """The names that a library offers: its own, and those that it exports."""
        file = dart_symbols.File(path)
        names = set(file.declared)
        for uri, shown in file.exports.items():
            names |= set(shown) or self.exported(self.resolved(path, uri))
        return names

    def test_names_in_flutter_code_are_imported(self):
        """Code without a compiler: each name of the packages in it is imported."""
        public = dart_symbols.Package([*SOURCES, *FLUTTER]).declared
        for path in [*FLUTTER, PACKAGE / "lib/channel.dart", PACKAGE / "lib/http.dart", FLUTTER_PACKAGE / "example/main.dart"]:
            file = dart_symbols.File(path)
            known = set(file.declared)
            for uri, shown in file.imports.items():
                found = self.resolved(path, uri)
                known |= set(shown) or (self.exported(found) if isinstance(found, pathlib.Path) else set())
            named = {dart_symbols.text(each) for each in dart_symbols.descend(file.root, "identifier", "type_identifier")}
            classes = {name for name, each in public.items() if name[0].isupper()}
            self.assertEqual(set(), (named & classes) - known, path)

    def test_examples_of_readmes_are_valid_dart(self):
        texts = [(package / "README.md").read_text() for package in PACKAGES.values()]
        found = [re.findall(r"^```dart\n(.*?)^```$", text, re.S | re.M) for text in texts]
        self.assertEqual([3, 2], [len(blocks) for blocks in found])
        blocks = [*found[0], *found[1]]
        declared = set(dart_symbols.Package([*SOURCES, *FLUTTER]).declared)
        for block in blocks:
            path = self.folder / "block.dart"
            # A statement that is valid in a function can be at the top level of the README.
            for text in (block, f"void example() async {{\n{block}\n}}\n"):
                path.write_text(text)
                file = dart_symbols.File(path)
                if not file.faults():
                    break
            self.assertEqual([], file.faults(), block)
            named = {dart_symbols.text(each) for each in dart_symbols.descend(file.root, "type_identifier")}
            own = {"Uri", "String", "Object", "Future", "Shop", "RouteClient", "ReviewPage", "GlobalKey", "NavigatorState"}
            self.assertEqual(set(), named - declared - own - {"void"}, block)


class Protocol(Package):
    def sent(self):
        """The methods that the client names, each with the properties of its maps."""
        for path in SOURCES:
            for call in dart_symbols.descend(dart_symbols.File(path).root, "arguments"):
                given = dart_symbols.children(call, "argument")
                first = dart_symbols.text(given[0]).strip("'") if given else ""
                if re.fullmatch(r"[a-z]+\.[a-zA-Z]+", first):
                    inside = dart_symbols.descend(call, "pair")
                    names = [re.match(r"'(\w+)':", dart_symbols.text(pair)) for pair in inside]
                    yield path, first, {name[1] for name in names if name}

    def test_every_protocol_method_is_implemented(self):
        code = "".join(path.read_text() for path in SOURCES)
        for part in ("methods", "x-server-methods", "x-notifications"):
            # Inspecting a server is for the inspector, not for apps.
            names = {each["name"] for each in OPENRPC[part] if not each["name"].startswith("admin.")}
            self.assertEqual(set(), {name for name in names if f"'{name}'" not in code})

    def test_parameters_are_those_of_protocol(self):
        methods = {each["name"]: params_of(each) for each in OPENRPC["methods"]}
        seen = set()
        for path, method, names in self.sent():
            if method not in methods:
                continue
            # `{session, token}` of `join`, and the properties of hosts and results, are nested.
            self.assertEqual(set(), names - methods[method] - {"session"}, f"{path}: {method}")
            seen |= {(method, name) for name in names}
        for needed in [("router.open", "deadlineMs"), ("session.invite", "expiresMs"), ("table.update", "operations"), ("page.call", "key")]:
            self.assertIn(needed, seen)

    def constants(self, file, name):
        """The constants of a class, as written."""
        members = self.file(file).declared[name].members
        return {each.name: int(dart_symbols.text(each.value[0])) for each in members.values() if each.kind == "field" and not each.name.startswith("_")}

    def test_codes_match_the_registry(self):
        self.assertEqual({each["kind"]: each["code"] for each in CODES["errors"]}, self.constants("lib/src/codes.dart", "ErrorCode"))
        self.assertEqual({each["kind"]: each["code"] for each in CODES["closes"]}, self.constants("lib/src/codes.dart", "CloseCode"))

    def test_state_tables_match_protocol_data(self):
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

    def test_route_client_matches_generated_interface(self):
        """`RouteClient` in the files of `routes generate` has the methods of `RouteCalls`, with their types."""
        generated = (ROOT / "Sources/WayTableTools/Code/DartCode+Runtime.swift").read_text()
        interface = re.search(r"abstract class RouteClient \{(.*?)\n    \}", generated, re.S)[1]
        wanted = {" ".join(line.split()) for line in re.findall(r"^ *(\w[^/\n]*\));", interface, re.M)}
        self.assertEqual(5, len(wanted))
        members = self.file("lib/src/route_calls.dart").declared["RouteCalls"].members.values()
        offered = {re.sub(r",? ?\)$", ")", re.sub(r"\( ", "(", " ".join(dart_symbols.text(each.node).split()))) for each in members if each.kind == "method"}
        self.assertEqual(wanted, offered)


# Errors that Dart's compiler would report: the text to replace, and its replacement.
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
                # The translator itself has rejected it.
                self.assertIn("connection.dart", str(end))
        faults = self.compiled(*programs.values())
        for what, program in programs.items():
            self.assertTrue(any(program.name in fault for fault in faults), what)

    def run_tests(self, program, **environment):
        """Runs a program's tests; returns the number of passed ones."""
        script = program.with_suffix(".mjs")
        subprocess.run(["esbuild", "--log-level=error", "--format=esm", program, f"--outfile={script}"], check=True)
        vectors = str(ROOT / "protocol/vectors")
        done = subprocess.run(
            ["node", "--test-reporter=tap", script], capture_output=True, text=True, timeout=60, env=os.environ | {"WAYBRIDGE_VECTORS": vectors} | environment)
        self.assertEqual(0, done.returncode, done.stdout[-4000:] + done.stderr)
        return int(re.search(r"^# pass (\d+)", done.stdout, re.M)[1])

    def test_tests_of_package_pass(self):
        programs = {test.name: self.translated(*SOURCES, *SUPPORT, test) for test in TESTS}
        self.assertEqual([], self.compiled(*programs.values()))
        played = re.search(r"(\d+) transcripts", (PACKAGE / "README.md").read_text())[1]
        for name, program in programs.items():
            with self.subTest(name):
                passed = self.run_tests(program)
                # One test counts the others.
                self.assertIn(passed, [int(played) + 1] if name == "vectors_test.dart" else range(1, 100))

    def test_navigator_host_with_simulated_flutter(self):
        """With fakes for Flutter."""
        here = ROOT / "Tests/Dart"
        program = self.translated(
            *SOURCES, *SUPPORT, here / "flutter.dart", FLUTTER_PACKAGE / "lib/src/navigator_host.dart", here / "navigator_host.dart")
        self.assertEqual([], self.compiled(program))
        self.assertGreaterEqual(self.run_tests(program), 5)

    def test_package_works_with_live_server(self):
        random = PACKAGE / "test/support/random_values.dart"
        program = self.translated(*SOURCES, random, rest=(ROOT / "Tests/Dart/live.ts").read_text())
        self.assertEqual([], self.compiled(program))
        command = [WAYBRIDGE, "serve", "--conformance", "--table", ROOT / "protocol/routes/demo.json", "--port", "0"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(lambda: (server.kill(), server.wait(), server.stdout.close()))
        address = server.stdout.readline().strip().removeprefix("listening on http://")
        self.assertEqual(4, self.run_tests(program, WAYBRIDGE_URL=f"ws://{address}/bridge"))


if __name__ == "__main__":
    unittest.main()
