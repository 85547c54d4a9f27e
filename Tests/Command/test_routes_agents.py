"""`waybridge routes generate` for agents: App Intents and AppFunctions compile against stubs of their platforms, and call the bridge."""

import pathlib
import shutil
import subprocess
import unittest

import pypi
from test_routes import DEMO, TABLE, Folder, hostile_table, tools

STUBS = pathlib.Path(__file__).parent / "stubs"

SWIFT = """
struct Bridge: RouteBridge {
  func open(_ uri: String, params: String) async throws -> String {
    print("open \\(uri) \\(params)")
    return uri.hasSuffix("gone") ? #"{"outcome": "dismissed", "message": ""}"# : #"{"outcome": "finished", "data": {"id": "a2"}}"#
  }

  func invoke(_ uri: String, params: String) async throws -> String {
    print("invoke \\(uri) \\(params)")
    return #"{"shared":true}"#
  }
}

func failure(_ body: () async throws -> Void) async {
  do { try await body() } catch let error as RouteIntentError { print(error.localizedStringResource.key) } catch { print("\\(error)") }
}

let share = ShareIntent()
await failure { _ = try await share.perform() }
RouteIntents.bridge = { Bridge() }
print(try await share.perform().value ?? "")

let address = AddressIntent()
address.id = "a/2 ü"
print(AddressIntent.openAppWhenRun, AddressIntent.authenticationPolicy, ShareIntent.openAppWhenRun, ShareIntent.authenticationPolicy)
print(try await address.perform().value ?? "")
for id in ["..", "gone"] {
  address.id = id
  await failure { _ = try await address.perform() }
}

let select = AddressSelectIntent()
select.city = "Kyoto"
_ = try await select.perform()
let orders = OrdersIntent()
orders.state = .open
orders.ids = ["a", "b"]
_ = try await orders.perform()
"""
SWIFT_OUTPUT = """The app has not set RouteIntents.bridge
invoke action://share {"text":null}
{"shared":true}
true alwaysAllowed false requiresAuthentication
open native://address/a%2F2%20%C3%BC {"edit":false}
{"id":"a2"}
id is a part of the address: it cannot be empty, "." or ".."
open native://address/gone {"edit":false}
The page was closed without a result
confirm Choose an address
open native://address/select {"city":"Kyoto","country":"de"}
open native://orders/open {"ids":["a","b"],"min":0.5,"page":1}
"""

KOTLIN = """
import androidx.appfunctions.*
import kotlin.coroutines.*
import shop.*

object Client : RouteClient {
    override suspend fun open(uri: String, params: Map<String, Any?>): Map<String, Any?> {
        println("open $uri $params")
        val data = mapOf("id" to "a2", "country" to "de", "note" to null, "class" to 2, "tags" to listOf("x"), "extra" to mapOf("a\\"" to listOf(1, null)))
        return mapOf("outcome" to if (uri.endsWith("gone")) "dismissed" else "finished", "code" to 0, "message" to "", "data" to data)
    }
    override suspend fun invoke(uri: String, params: Map<String, Any?>): Any? {
        println("invoke $uri $params")
        return mapOf("shared" to true)
    }
    override suspend fun call(page: String, method: String, params: Map<String, Any?>): Any? = null
    override fun listen(topic: String, listener: (Any?) -> Unit): AutoCloseable = AutoCloseable { }
    override suspend fun publish(topic: String, data: Any?) {}
}

object Service : BaseRouteFunctionService()

suspend fun failure(body: suspend () -> Unit) {
    try { body() } catch (error: AppFunctionException) { println(error::class.simpleName + " " + error.message) }
}

suspend fun talk() {
    failure { Service.share(null) }
    RouteFunctions.client = { Client }
    println(Service.share("Tea").shared)
    println(Service.address("a/2"))
    failure { Service.address("..") }
    failure { Service.address("gone") }
    val near = AgentAddress(id = "a1", country = "at", note = null, tags = listOf("y"))
    println(Service.addressSelect(near = near).country)
    failure { Service.addressSelect(country = "Atlantis") }
    failure { Service.orders("open", ids = listOf("a")) }
}

fun main() = ::talk.startCoroutine(Continuation(EmptyCoroutineContext) { it.getOrThrow() })
"""
KOTLIN_OUTPUT = """AppFunctionAppUnknownException the app has not set RouteFunctions.client
invoke action://share {text=Tea}
true
open native://address/a%2F2 {edit=false}
AgentAddress(id=a2, street=null, country=de, note=null, place=null, class_=2, tags=[x], extra={"a\\"":[1,null]})
AppFunctionInvalidArgumentException id is a part of the URI: it must be there, and not be empty, '.' or '..'
open native://address/gone {edit=false}
AppFunctionAppUnknownException the user closed the page without a result
open native://address/select {country=de, near={id=a1, country=at, note=null, tags=[y]}}
de
AppFunctionInvalidArgumentException country has to be one of the values that the table lists; it is String
open native://orders/open {page=1, sort=null, ids=[a], min=0.5}
"""


class Agents(Folder):
    maxDiff = None

    def tables(self):
        return [TABLE, DEMO, self.write("nasty.json", hostile_table())]

    def swiftc(self, *arguments):
        done = subprocess.run(
            ["swiftc", "-swift-version", "6", "-warnings-as-errors", "-I", self.folder, *arguments],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def test_app_intents_compile_and_call_the_bridge(self):
        found = self.swiftc(
            "-parse-as-library", "-emit-module", "-emit-object", "-module-name", "AppIntents", STUBS / "AppIntents.swift", "-o", "AppIntents.o",
            "-emit-module-path", "AppIntents.swiftmodule")
        self.assertEqual((0, ""), found)
        for table in reversed(self.tables()):
            file = self.generate(table, "appintents")["appintents"]
            self.assertEqual((0, ""), self.swiftc("-typecheck", file), table)
        self.write("main.swift", SWIFT)
        self.assertEqual((0, ""), self.swiftc(file, "main.swift", "AppIntents.o", "-o", "intents"))
        done = subprocess.run([self.folder / "intents"], capture_output=True, text=True, timeout=20)
        self.assertEqual(("", SWIFT_OUTPUT), (done.stderr, done.stdout))

    def test_app_functions_compile_and_call_the_bridge(self):
        folder, reason = tools()
        if reason or not shutil.which("java"):
            self.skipTest(reason or "there is no java")
        files = []
        for index, table in enumerate(self.tables()):
            package = ["shop", "demo", "nasty"][index]
            made = self.generate(table, "kotlin", "appfunctions", options=["--package", package])
            for language, file in made.items():
                files.append(file.rename(self.folder / f"{package}-{language}.kt"))
        main = self.write("Main.kt", KOTLIN)
        found = pypi.compile_kotlin(folder, *sorted(STUBS.glob("*.kt")), *files, main, into=self.folder / "classes")
        self.assertEqual((0, ""), found)
        library = pypi.kotlin_library(folder)
        done = subprocess.run(["java", "-cp", f"{library}:{self.folder / 'classes'}", "MainKt"], capture_output=True, text=True)
        self.assertEqual(("", KOTLIN_OUTPUT), (done.stderr, done.stdout))

    def test_only_routes_for_agents_are_there(self):
        files = self.generate(DEMO, "appintents", "appfunctions")
        intents, functions = (files[language].read_text() for language in ("appintents", "appfunctions"))
        for name in ("addressList", "share", "time", "cartAdd", "cartContents", "cancelOrder", "location", "quote"):
            self.assertIn(f"public struct {name[0].upper()}{name[1:]}Intent: AppIntent", intents)
            self.assertIn(f"suspend fun {name}(", functions)
        self.assertEqual(8, intents.count(": AppIntent {"))
        self.assertEqual(8, functions.count("@AppFunctionDeclaration("))
        # Only a route that can delete something is confirmed.
        self.assertEqual(1, intents.count("requestConfirmation()"))

    def test_routes_with_unsupported_parameters_are_listed(self):
        object_type = {"type": "object"}
        table = self.write("objects.json", {"version": "1", "routes": [
            {"name": name, "pattern": f"action://{name}", "kind": "task", "parameters": {"given": object_type}, "required": required, "agents": {}}
            for name, required in (("needs", ["given"]), ("takes", []))
        ]})
        for language, file in self.generate(table, "appintents", "appfunctions").items():
            text = file.read_text()
            self.assertRegex(text, r"// Omitted, because App.* required parameter:\n// - needs\n", language)
            self.assertRegex(text, r"TakesIntent|suspend fun takes\(\)", language)


if __name__ == "__main__":
    unittest.main()
