import TestSupport
import Testing
import Waybridge
import WaybridgeClient

/// Which of a client's hosts serves a URI, and how they come and go.
@Suite(.timeLimit(.minutes(1)))
struct ClientHostTests {
  private let server = ScriptedServer()

  private static func task(_ pattern: String, _ name: Value) -> BridgeClient.Host {
    .task(pattern) { _ in name }
  }

  private static let hosts = [
    task("action://:any", "any"), task("action://share", "first"), task("/global/:x", "global"),
    BridgeClient.Host.service("service://Clock/now", { _ in "now" }), task("action://no", "task"),
    BridgeClient.Host.service("action://no", { _ in "service" }),
  ]

  private func run(_ pattern: String, _ kind: Value = "task") async throws -> Value {
    try await server.send([
      "jsonrpc": "2.0", "id": 1, "method": "task.run",
      "params": ["uri": "action://any", "host": ["pattern": .string(pattern), "kind": kind]],
    ])
    return try await server.next()
  }

  @Test(
    arguments: [
      ("action://:any", "task", "any"), ("action://share", "task", "first"),
      ("/global/:x", "task", "global"), ("service://Clock/now", "service", "now"),
      ("action://no", "task", "task"), ("action://no", "service", "service"),
    ] as [(String, Value, Value)])
  func theHostServesThatTheServerHasChosen(
    pattern: String, kind: Value, answer: Value
  ) async throws {
    let client = try await server.open(.init(name: "a", version: "1", hosts: Self.hosts))
    #expect(try await run(pattern, kind)["result"] == answer)
    await client.close()
  }

  @Test func whatIsNotHostedAndWhatIsNoHostAreErrors() async throws {
    let client = try await server.open(.init(name: "a", version: "1", hosts: Self.hosts))
    #expect(try await run("action://other")["error"]?["code"] == 2504)
    #expect(try await run("action://share", "page")["error"]?["code"] == 2504)
    #expect(try await run("action://share", "none")["error"]?["code"] == -32602)
    await client.close()
  }

  @Test func whoThrowsDeclinedSaysSo() async throws {
    struct Shy: PageHost {
      func open(_ page: BridgeClient.Page) async throws { throw Declined() }
      func close(_ page: BridgeClient.Page, reason: Outcome.Kind, exts: ValueObject) async {}
    }
    let client = try await server.open(
      .init(
        name: "a", version: "1",
        hosts: [.task("action://a") { _ in throw Declined() }, .pages(scheme: "native", Shy())]))
    let page: Value = ["page": ["id": "p", "uri": "native://a", "style": "push"]]
    for (method, params) in [("task.run", ["uri": "action://a"]), ("page.open", page)] {
      try await server.send([
        "jsonrpc": "2.0", "id": 1, "method": .string(method), "params": params,
      ])
      let error = try await server.next()["error"]
      #expect(error?["code"] == 2404)
      #expect(error?["data"]?["kind"] == "declined")
    }
    await client.close()
  }

  @Test func aHostIsReplacedAndTakenBack() async throws {
    let client = try await server.open(
      .init(name: "a", version: "1", hosts: [Self.task("action://a", 1)]))
    let registering = Task { try await client.register([Self.task("action://a", 2)]) }
    try await server.answer(try await server.next(), ["hosts": []])
    try await registering.value
    #expect(try await run("action://a")["result"] == 2)
    let leaving = Task { try await client.unregister([Self.task("action://a", 0)]) }
    let request = try await server.next()
    #expect(
      request["params"] == ["hosts": [["patterns": ["action://a"], "kind": "task"]]])
    try await server.answer(request, ["hosts": []])
    try await leaving.value
    #expect(try await run("action://a")["error"]?["code"] == 2504)
    await client.close()
  }

  @Test func aRefusedRegistrationLeavesTheHostsAsTheyWere() async throws {
    let client = try await server.open(
      .init(name: "a", version: "1", hosts: [Self.task("action://a", 1)]))
    let registering = Task {
      try await client.register([Self.task("action://a", 2), Self.task("action://b", 2)])
    }
    let request = try await server.next()
    try await server.send([
      "jsonrpc": "2.0", "id": request["id"] ?? nil, "error": ["code": 2429, "message": "full"],
    ])
    await #expect(throws: CallError(code: 2429, message: "full")) { try await registering.value }
    #expect(try await run("action://a")["result"] == 1)
    #expect(try await run("action://b")["error"]?["code"] == 2504)
    await client.close()
  }

  @Test func anAdoptedPageIsClosedByTheHostGivenWithIt() async throws {
    actor Closer: PageHost {
      nonisolated let closed = Mailbox<String>()
      func open(_ page: BridgeClient.Page) async throws {}
      func close(_ page: BridgeClient.Page, reason: Outcome.Kind, exts: ValueObject) async {
        closed.put("\(page.uri) \(reason)")
      }
    }
    let closer = Closer()
    let client = try await server.open()
    let adopting = Task { try await client.adopt("native://old", host: closer) }
    try await server.answer(
      try await server.next(), ["id": "p9", "uri": "native://old", "style": "push", "host": "c"])
    #expect(try await adopting.value.id == "p9")
    try await server.send([
      "jsonrpc": "2.0", "id": 1, "method": "page.close",
      "params": ["page": "p9", "reason": "dismissed"],
    ])
    #expect(try await closer.closed.take() == "native://old dismissed")
    await client.close()
  }
}
