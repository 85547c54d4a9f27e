"""`waybridge routes generate`, `export` and `diff`."""

import functools
import html.parser
import json
import os
import pathlib
import plistlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import pypi
from command import ROOT, run

TABLE = str(ROOT / "Tests/WayTableToolsTests/Golden/table.json")
DEMO = str(ROOT / "protocol/routes/demo.json")
FILES = {
    "typescript": "routes.ts", "swift": "Routes.swift", "dart": "routes.dart", "kotlin": "Routes.kt", "appintents": "RouteIntents.swift",
    "appfunctions": "RouteFunctions.kt",
}

# Names and texts with a meaning in a language, or that a language ignores.
HOSTILE_TEXTS = [
    "*/", "/*", "//", '"', "'", "`", "${x}", "$x", "\\", "\\(x)", "\n", "\r\n", "\t", "\u2028", "\u2029", "\u202e", "\u2066",
    "\u200f", "a\u0301", "\u0301", "\u3164", "\0", "\x7f", "\u0085", "\ufeff", "\ue000", "\ufffe", "\U000e0001", "😀", "𝒜", "地址",
    "é", "ß", "ﬁ", "א", "ن", "½", "404", "4x", "__", "a-b", "a b", "a_b", "<script>alert(1)</script>", "</", "]]>", "&amp;",
    "{@link x}", "# x", "|", "- x", "1. x", "__proto__", "constructor", "class", "default", "in", "self", "Self", "String", "open",
    "value", "page", "json", "params", "hashCode", "rawValue", "any", "some", "await", "none", "allCases", "toJson", "init",
]


def hostile_table(without=()):
    """A table in which every property with a name or a text has each of those."""
    texts = [text for text in HOSTILE_TEXTS if text not in without]
    routes = []
    for index, name in enumerate(texts):
        kind = ["page", "task", "service"][index % 3]
        route = {
            "name": name, "pattern": f"app://r{index}/:p", "kind": kind, "title": name + "*/", "purpose": f"a{name}b",
            "parameters": {name: {"type": "string", "title": name, "default": name}},
            "result": {"type": "object", "required": [name], "properties": {
                name: {"type": ["string", "null"], "enum": [name, "x"], "title": name}}},
            "agents": {},
        }
        if kind == "page":
            route["methods"] = {name: {"title": name, "parameters": {name: {"type": "integer", "enum": [-(2**63), 0]}}}}
        routes.append(route)
    types = {name: {"type": "object", "properties": {"a": {"type": "integer"}}} for name in texts if not set("/~%") & set(name)}
    types["All"] = {"type": "object", "properties": {name: {"type": "string", "title": name} for name in texts}}
    types["Words"] = {"type": "string", "enum": texts}
    return {
        "version": "1\u202e*/\"${x}\n", "types": types, "routes": routes,
        "topics": {"a.b": {"title": "*/", "data": {"$ref": "#/types/All"}}, "a-b": {}, "default": {}},
    }


@functools.cache
def tools():
    """The folder of a Python environment with a Kotlin compiler and a parser of Dart, or the reason why there is none."""
    return pypi.installed(*pypi.KOTLIN, *pypi.DART)


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, document):
        path = self.folder / name
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        return str(path)

    def generate(self, table, *languages, options=()):
        """The generated files, by language."""
        flags = [flag for language in languages for flag in ("--language", language)]
        code, output, errors = run("routes", "generate", table, *flags, "--output", str(self.folder), *options)
        self.assertEqual((0, ""), (code, errors))
        return {language: self.folder / FILES[language] for language in languages}


class Generate(Folder):
    def test_files_are_written_once_and_checked(self):
        arguments = ["routes", "generate", DEMO, "--language", "swift", "--language", "kotlin", "--output", str(self.folder / "a/b")]
        code, output, errors = run(*arguments, "--check")
        self.assertEqual((1, ""), (code, output))
        self.assertEqual(2, errors.count(" is missing: "))
        paths = [str(self.folder / "a/b" / FILES[language]) for language in ("swift", "kotlin")]
        self.assertEqual((0, "".join(f"{path}: written\n" for path in paths), ""), run(*arguments))
        self.assertEqual((0, "".join(f"{path}: current\n" for path in paths), ""), run(*arguments))
        self.assertEqual(0, run(*arguments, "--check")[0])
        pathlib.Path(paths[0]).write_text(pathlib.Path(paths[0]).read_text() + "\n")
        code, output, errors = run(*arguments, "--check")
        self.assertEqual((1, f"{paths[1]}: current\n"), (code, output))
        self.assertRegex(errors, rf"^{paths[0]} is stale: the table has the version \"\S+\" and the hash [0-9a-f]{{16}}; ")

    def test_invalid_arguments_are_reported(self):
        output = ["--output", str(self.folder)]
        swift = ["--language", "swift"]
        for arguments, code, message in [
            ([self.write("a.json", "{"), *swift], 1, "is not JSON"),
            ([self.write("b.json", {"version": "1", "routes": [{"name": "x"}]}), *swift], 1, "$.routes[0]: "),
            ([str(self.folder / "none"), *swift], 1, "cannot be read: No such file"),
            ([TABLE, "--language", "cobol"], 64, "cobol"),
            ([TABLE], 64, "--language"),
            ([TABLE, "--language", "dart", "--module", "Waybridge"], 64, "--module"),
            ([TABLE, *swift, "--module", "a;b"], 64, "--module"),
            ([TABLE, *swift, "--package", "a.b"], 64, "--package"),
        ]:
            with self.subTest(message):
                found, printed, errors = run("routes", "generate", *arguments, *output)
                self.assertEqual((code, ""), (found, printed))
                self.assertIn(message, errors)
        (self.folder / "file").write_text("")
        code, _, errors = run("routes", "generate", TABLE, *swift, "--output", str(self.folder / "file/x"))
        self.assertEqual(1, code)
        self.assertIn("cannot be written", errors)

    def test_module_and_package_can_be_set(self):
        options = ["--module", "Waybridge", "--package", "shop.routes"]
        files = self.generate(TABLE, "swift", "kotlin", options=options)
        self.assertIn("\nimport Waybridge\n", files["swift"].read_text())
        self.assertIn("\npackage shop.routes\n", files["kotlin"].read_text())

    def compile_typescript(self, *sources):
        return subprocess.run(
            ["tsc", "--strict", "--target", "es2022", "--module", "es2022", "--outDir", str(self.folder / "out"), *sources],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)

    def test_typescript_is_strict_and_runs(self):
        for table in (self.write("nasty.json", hostile_table()), DEMO, TABLE):
            file = self.generate(table, "typescript")["typescript"]
            done = self.compile_typescript(str(file))
            self.assertEqual((0, ""), (done.returncode, done.stdout), table)
        (self.folder / "package.json").write_text('{"type": "module"}')
        shown = subprocess.run(
            ["node", "--input-type=module", "-e", 'import { routes, table } from "./out/routes.js"; console.log(JSON.stringify({ routes, table }))'],
            cwd=self.folder, check=True, capture_output=True, text=True)
        shown = json.loads(shown.stdout)
        self.assertEqual("native://address/:id", shown["routes"]["address"])
        self.assertEqual("1.4.0", shown["table"]["version"])

    def test_typescript_rejects_invalid_parameters(self):
        self.generate(TABLE, "typescript")
        head = 'import type { Address, Routes } from "./routes.js";\n'
        lines = [
            ('const a: Routes["pages"]["native://address/:id"]["params"] = { id: "a" };', True),
            ('const a: Routes["pages"]["native://address/:id"]["params"] = { id: "a", edti: true };', False),
            ('const a: Routes["pages"]["native://address/:id"]["params"] = {};', False),
            ('const a: Routes["pages"]["native://orders"]["params"] = { state: "open", sort: null };', True),
            ('const a: Routes["pages"]["native://orders"]["params"] = { state: "opne" };', False),
            ('const a = (b: Routes["pages"]["native://address/:id"]["result"]) => b.country;', True),
            ('const a = (b: Routes["pages"]["native://address/:id"]["result"]) => b.land;', False),
            ('const a: Routes["topics"]["cart.changed"] = { count: 1 };', True),
            ('type A = Routes["topics"]["cart.chnaged"];', False),
            ('const a: Routes["pages"]["native://address/:id"]["methods"]["scroll"]["params"] = { to: "x" };', True),
            ('const a: Routes["pages"]["files://box/*"]["params"] = { "*": ["a", "b"] };', True),
            ('const a: Routes["tasks"]["service://2nd-class"]["result"] = null;', True),
        ]
        for index, (line, _) in enumerate(lines):
            (self.folder / f"l{index}.ts").write_text(head + line)
        done = self.compile_typescript(*[str(self.folder / f"l{index}.ts") for index in range(len(lines))])
        for index, (line, fits) in enumerate(lines):
            self.assertEqual(fits, f"l{index}.ts(2" not in done.stdout, f"{line}\n{done.stdout}")

    def test_generated_swift_parses(self):
        file = self.generate(self.write("nasty.json", hostile_table()), "swift")["swift"]
        done = subprocess.run(
            ["swiftc", "-frontend", "-parse", "-swift-version", "6", str(file)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual((0, ""), (done.returncode, done.stdout))

    def test_generated_dart_parses(self):
        folder, reason = tools()
        if reason:
            self.skipTest(reason)
        script = (
            "import sys, tree_sitter, tree_sitter_dart\n"
            "parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_dart.language()))\n"
            "sys.exit(parser.parse(open(sys.argv[1], 'rb').read()).root_node.has_error)\n")
        # Unlike Dart, the parser treats the start of a comment within a string as a comment.
        for table in (self.write("nasty.json", hostile_table(without=["/*"])), DEMO, TABLE):
            file = self.generate(table, "dart")["dart"]
            self.assertEqual(0, subprocess.run([folder / "bin/python", "-c", script, file]).returncode, table)
        file.write_text(file.read_text().replace("class Address {", "class Address {{"))
        self.assertEqual(1, subprocess.run([folder / "bin/python", "-c", script, file]).returncode)

    def test_kotlin_compiles_and_runs(self):
        folder, reason = tools()
        if reason or not shutil.which("java"):
            self.skipTest(reason or "there is no java")
        self.generate(TABLE, "kotlin", options=["--package", "shop"])
        (self.folder / "nasty").mkdir()
        code, _, errors = run(
            "routes", "generate", self.write("nasty.json", hostile_table()), "--language", "kotlin", "--package", "nasty",
            "--output", str(self.folder / "nasty"))
        self.assertEqual((0, ""), (code, errors))
        (self.folder / "Main.kt").write_text(KOTLIN)
        files = self.folder / "Routes.kt", self.folder / "nasty/Routes.kt", self.folder / "Main.kt"
        self.assertEqual((0, ""), pypi.compile_kotlin(folder, *files, into=self.folder / "classes"))
        library = pypi.kotlin_library(folder)
        done = subprocess.run(
            ["java", "-cp", f"{library}:{self.folder / 'classes'}", "MainKt"], capture_output=True, text=True)
        self.assertEqual(("", KOTLIN_OUTPUT), (done.stderr, done.stdout))


KOTLIN = """
import kotlin.coroutines.*
import shop.*

object Client : RouteClient {
    override suspend fun open(uri: String, params: Map<String, Any?>): Map<String, Any?> {
        println("open $uri $params")
        val data = mapOf("id" to "a2", "country" to "de", "note" to null, "class" to 2)
        return mapOf("outcome" to "finished", "code" to 0, "message" to "", "data" to data)
    }
    override suspend fun invoke(uri: String, params: Map<String, Any?>): Any? {
        println("invoke $uri $params")
        return mapOf("shared" to "yes")
    }
    override suspend fun call(page: String, method: String, params: Map<String, Any?>): Any? = "$page $method $params"
    override fun listen(topic: String, listener: (Any?) -> Unit): AutoCloseable {
        listener(mapOf("count" to 3))
        return AutoCloseable { }
    }
    override suspend fun publish(topic: String, data: Any?) = println("publish $topic $data")
}

suspend fun talk() {
    val outcome = Client.openAddress("a/2 ü", edit = true)
    println("${outcome.kind} ${outcome.data?.class_} ${outcome.data?.toJson()}")
    println(Client.openOrders(OrdersState.open_, sort = null).kind)
    println(Client.openFiles(listOf("a", "")).kind)
    println(Client.callAddressScroll("p1", "end"))
    Client.onCartChanged { println(it.count) }
    Client.publishCartChanged(CartChangedData(4))
    try { Client.invokeShare(null) } catch (error: RouteException) { println(error.message) }
    try { Client.openAddress("..") } catch (error: RouteException) { println(error.message) }
}

fun main() = ::talk.startCoroutine(Continuation(EmptyCoroutineContext) { it.getOrThrow() })
"""
KOTLIN_OUTPUT = """open native://address/a%2F2%20%C3%BC {edit=true}
finished value2 {id=a2, country=de, note=null, class=2}
open native://orders/open {page=1, sort=null, min=0.5}
finished
open files://box/a// {}
finished
p1 scroll {to=end}
3
publish cart.changed {count=4}
invoke action://share {text=null}
action://share.shared has to be true or false; it is String
id is a part of the URI: it must be there, and not be empty, '.' or '..'
"""


class Page(html.parser.HTMLParser):
    """Whether each element is closed, and its content."""

    VOID = {"meta", "input"}

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.links, self.text = [], [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name == "href"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if self.open.pop() != tag:
            raise AssertionError(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data):
        self.text += data


class Export(Folder):
    def export(self, table, form, *options):
        code, output, errors = run("routes", "export", table, "--format", form, *options)
        self.assertEqual((0, ""), (code, errors))
        return output

    def test_json_export_is_canonical(self):
        for table in (TABLE, DEMO, self.write("nasty.json", hostile_table())):
            text = self.export(table, "json")
            again = self.write("again.json", text)
            self.assertEqual(text, self.export(again, "json"))
            self.assertEqual("0 differences, 0 breaking\n", run("routes", "diff", table, again)[1])
            self.assertEqual("0 differences, 0 breaking\n", run("routes", "diff", again, table)[1])
        written = {
            "$schema": "x", "routes": [{"kind": "page", "patterns": ["a://b"], "name": "b", "strict": False, "priority": 0}],
            "plusIsSpace": True, "redirects": [], "schemes": {"A": {"closed": False}}, "version": "1"}
        self.assertEqual(
            '{\n  "version": "1",\n  "routes": [{"name": "b", "pattern": "a://b", "kind": "page"}],\n  "schemes": {"a": {}}\n}\n',
            self.export(self.write("b.json", written), "json"))

    def test_property_list_equals_json(self):
        for table in (TABLE, DEMO):
            text = self.export(table, "plist")
            self.assertIn("http://www.apple.com/DTDs/PropertyList-1.0.dtd", text)

            def without_null(value):
                if isinstance(value, dict):
                    return {name: without_null(member) for name, member in value.items()}
                if isinstance(value, list):
                    return [without_null(element) for element in value]
                return "$null" if value is None else value

            self.assertEqual(without_null(json.loads(self.export(table, "json"))), plistlib.loads(text.encode()))
        self.assertEqual(len(HOSTILE_TEXTS), len(plistlib.loads(self.export(self.write("n.json", hostile_table()), "plist").encode())["routes"]))

    def test_html_is_well_formed_and_escapes_texts(self):
        plain, hostile = Page(self.export(DEMO, "html")), Page(self.export(self.write("n.json", hostile_table()), "html"))
        for page in (plain, hostile):
            self.assertEqual([], page.open)
            self.assertEqual(1, page.tags.count("script"))
            self.assertEqual([], page.links)
        self.assertIn("<script>alert(1)</script>", hostile.text)
        self.assertNotRegex(hostile.text, "[\u202e\u2066\u200f\u2028]")
        self.assertIn("native://address/:id", plain.text)
        self.assertIn("hosts of pages of native", plain.text)

    def test_html_links_to_the_demo(self):
        page = Page(self.export(TABLE, "html", "--demo", "http://localhost:8080/demo/?a=1&b=2#old"))
        self.assertIn("http://localhost:8080/demo/?a=1&b=2#route=address", page.links)
        links = Page(self.export(self.write("n.json", hostile_table()), "html", "--demo", "https://h.x/")).links
        self.assertIn("https://h.x/#route=%3Cscript%3Ealert%281%29%3C%2Fscript%3E", links)
        for options in (["--format", "html", "--demo", "javascript:alert(1)"], ["--format", "json", "--demo", "http://a/"]):
            code, _, errors = run("routes", "export", TABLE, *options)
            self.assertEqual(64, code)
            self.assertIn("--demo", errors)

    def test_markdown_documents_every_route(self):
        text = self.export(TABLE, "markdown")
        for line in [
            "# Routes, version 1.4.0", "### address", "- `native://address/:id`", "| edit | boolean | default false | Whether it may be changed. |",
            "Result: Address, Where something goes.", "#### address: scroll",
        ]:
            self.assertIn(f"\n{line}\n", "\n" + text)
        hostile = self.export(self.write("n.json", hostile_table()), "markdown")
        self.assertIn("\\<script\\>", hostile)
        self.assertNotIn("<script>", hostile)

    def test_association_files_name_apps(self):
        fingerprint = ":".join(["aB"] * 32)
        host = ["--host", "M.shop.example"]
        apple = json.loads(self.export(DEMO, "apple-app-site-association", *host, "--app-id", "ABCDE12345.com.example.app", "--app-id", "ABCDE12345.b"))
        (details,) = apple["applinks"]["details"]
        self.assertEqual(["ABCDE12345.com.example.app", "ABCDE12345.b"], details["appIDs"])
        self.assertIn({"/": "/campaign/?*", "comment": "campaign"}, details["components"])
        google = json.loads(self.export(DEMO, "assetlinks", *host, "--android-app", f"com.example.app={fingerprint}"))
        self.assertEqual([{
            "relation": ["delegate_permission/common.handle_all_urls"],
            "target": {"namespace": "android_app", "package_name": "com.example.app", "sha256_cert_fingerprints": [fingerprint.upper()]},
        }], google)

    def test_association_options_are_checked(self):
        apple, google = ["--format", "apple-app-site-association"], ["--format", "assetlinks"]
        app = ["--app-id", "ABCDE12345.com.example.app"]
        for code, error, options in [
            (64, "requires --app-id", apple), (64, "requires --android-app", google),
            (64, "--app-id requires --format apple-app-site-association", ["--format", "json", *app]),
            (64, "--host requires --format", ["--format", "json", "--host", "a.example"]),
            (64, "--app-id must be ten capital letters", [*apple, "--app-id", "com.example.app"]),
            (64, "SHA-256 fingerprint", [*google, "--android-app", "com.example.app=AB:CD"]),
            (64, "--host must be the name of a host", [*apple, *app, "--host", "https://m.shop.example"]),
            (64, "--host must be the name of a host", [*apple, *app, "--host", "m.shop.example:443"]),
            (1, 'has a file of its own; choose one with --host', [*apple, *app]),
            (1, 'no pattern of the table matches https URLs of "a.example"', [*apple, *app, "--host", "a.example"]),
        ]:
            with self.subTest(options=options):
                found, output, errors = run("routes", "export", DEMO, *options)
                self.assertEqual((code, ""), (found, output))
                self.assertIn(error, errors)

    def test_export_is_written_to_file(self):
        path = self.folder / "a/routes.html"
        self.assertEqual((0, "", ""), run("routes", "export", TABLE, "--format", "html", "--output", str(path)))
        self.assertEqual(self.export(TABLE, "html"), path.read_text())


class Diff(Folder):
    def setUp(self):
        super().setUp()
        self.old = self.write("old.json", {"version": "1", "routes": [
            {"name": "a", "pattern": "n://a", "kind": "page", "title": "A"}, {"name": "b", "pattern": "n://b", "kind": "page"}]})
        self.new = self.write("new.json", {"version": "2", "routes": [
            {"name": "a", "pattern": "n://a", "kind": "page", "title": "B"}, {"name": "c", "pattern": "n://c", "kind": "page"}]})

    def test_differences_are_printed_as_text(self):
        self.assertEqual(
            (0, "          route \"a\": another title\nbreaking  route \"b\": is gone\n          route \"c\": is new\n3 differences, 1 breaking\n", ""),
            run("routes", "diff", self.old, self.new))
        self.assertEqual((0, "0 differences, 0 breaking\n", ""), run("routes", "diff", self.old, self.old))

    def test_breaking_differences_fail_the_command(self):
        self.assertEqual(
            (1, "breaking  route \"b\": is gone\n3 differences, 1 breaking\n", ""), run("routes", "diff", self.old, self.new, "--breaking"))
        self.assertEqual(0, run("routes", "diff", self.old, self.old, "--breaking")[0])

    def test_differences_as_json_for_programs(self):
        code, output, _ = run("routes", "diff", self.old, self.new, "--json")
        differences = json.loads(output)
        self.assertEqual((0, 1, "1", "2"), (code, differences["breaking"], differences["from"]["version"], differences["to"]["version"]))
        self.assertEqual({"what": "route", "name": "b", "message": "is gone", "breaking": True}, differences["changes"][1])
        self.assertEqual((["c"], ["b"], ["a"]), tuple(differences["names"][name] for name in ("added", "removed", "changed")))
        self.assertEqual(1, run("routes", "diff", self.old, self.new, "--json", "--breaking")[0])

    def test_invalid_arguments_are_reported(self):
        self.assertEqual(64, run("routes", "diff", self.old)[0])
        code, _, errors = run("routes", "diff", self.old, str(self.folder / "none"))
        self.assertEqual(1, code)
        self.assertIn("cannot be read", errors)


if __name__ == "__main__":
    unittest.main()
