import TestSupport
import Testing
import Waybridge
import WaybridgeClient

/// The choice among a client's hosts for a URI, and their registration and removal.
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

  private func runTask(_ pattern: String, _ kind: Value = "task") async throws -> Value {
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
  func usesTheHostChosenByTheServer(
    pattern: String, kind: Value, response: Value
  ) async throws {
    let client = try await server.openClient(.init(name: "a", version: "1", hosts: Self.hosts))
    #expect(try await runTask(pattern, kind)["result"] == response)
    await client.close()
  }

  @Test func unknownAndInvalidHostsAreErrors() async throws {
    let client = try await server.openClient(.init(name: "a", version: "1", hosts: Self.hosts))
    #expect(try await runTask("action://other")["error"]?["code"] == 2504)
    #expect(try await runTask("action://share", "page")["error"]?["code"] == 2504)
    #expect(try await runTask("action://share", "none")["error"]?["code"] == -32602)
    await client.close()
  }

  @Test func guardDecidesAboutItsPage() async throws {
    let client = try await server.openClient(.init(name: "a", version: "1"))
    async let set: Void = client.setGuard(
      { leave in
        if leave.reason == .replaced { throw CallError(code: 7, message: "broken") }
        return leave.destination == nil
          ? .allow : .deny(reason: "not to \(leave.destination?.uri ?? "")")
      }, page: "p1", timeout: .seconds(5))
    let request = try await server.next()
    #expect(request["method"] == "page.setGuard")
    #expect(request["params"] == ["page": "p1", "enabled": true, "timeoutMs": 5000])
    try await server.send(["jsonrpc": "2.0", "id": request["id"] ?? .null, "result": .null])
    try await set

    func ask(_ page: Value, _ reason: Value, _ to: Value) async throws -> Value {
      try await server.send([
        "jsonrpc": "2.0", "id": 1, "method": "page.leave",
        "params": ["page": page, "reason": reason, "to": to],
      ])
      return try await server.next()
    }
    #expect(try await ask("p1", "dismissed", .null)["result"] == ["allow": true])
    #expect(
      try await ask("p1", "dismissed", ["page": "p0", "uri": "native://m"])["result"]
        == ["allow": false, "reason": "not to native://m"])
    #expect(try await ask("p1", "replaced", .null)["error"]?["code"] == 7)
    #expect(try await ask("p2", "dismissed", .null)["result"] == ["allow": true])
    #expect(try await ask("p1", .null, .null)["error"]?["code"] == -32602)
    await client.close()
  }

  @Test func declinedIsReportedAsDeclined() async throws {
    struct DecliningPageHost: PageHost {
      func open(_ page: BridgeClient.HostedPage) async throws { throw Declined() }
      func close(_ page: BridgeClient.HostedPage, reason: Outcome.OutcomeKind, exts: ValueObject)
        async
      {}
    }
    let client = try await server.openClient(
      .init(
        name: "a", version: "1",
        hosts: [
          .task("action://a") { _ in throw Declined() },
          .pages(scheme: "native", DecliningPageHost()),
        ]))
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

  @Test func hostCanBeReplacedAndUnregistered() async throws {
    let client = try await server.openClient(
      .init(name: "a", version: "1", hosts: [Self.task("action://a", 1)]))
    let registering = Task { try await client.register([Self.task("action://a", 2)]) }
    try await server.respond(try await server.next(), ["hosts": []])
    try await registering.value
    #expect(try await runTask("action://a")["result"] == 2)
    let leaving = Task { try await client.unregister([Self.task("action://a", 0)]) }
    let request = try await server.next()
    #expect(
      request["params"] == ["hosts": [["patterns": ["action://a"], "kind": "task"]]])
    try await server.respond(request, ["hosts": []])
    try await leaving.value
    #expect(try await runTask("action://a")["error"]?["code"] == 2504)
    await client.close()
  }

  @Test func rejectedRegistrationKeepsPreviousHosts() async throws {
    let client = try await server.openClient(
      .init(name: "a", version: "1", hosts: [Self.task("action://a", 1)]))
    let registering = Task {
      try await client.register([Self.task("action://a", 2), Self.task("action://b", 2)])
    }
    let request = try await server.next()
    try await server.send([
      "jsonrpc": "2.0", "id": request["id"] ?? nil, "error": ["code": 2429, "message": "full"],
    ])
    await #expect(throws: CallError(code: 2429, message: "full")) { try await registering.value }
    #expect(try await runTask("action://a")["result"] == 1)
    #expect(try await runTask("action://b")["error"]?["code"] == 2504)
    await client.close()
  }

  @Test func adoptedPageIsClosedByItsHost() async throws {
    actor AdoptingPageHost: PageHost {
      nonisolated let closed = Mailbox<String>()
      func open(_ page: BridgeClient.HostedPage) async throws {}
      func close(_ page: BridgeClient.HostedPage, reason: Outcome.OutcomeKind, exts: ValueObject)
        async
      {
        closed.put("\(page.uri) \(reason)")
      }
    }
    let closer = AdoptingPageHost()
    let client = try await server.openClient()
    let adopting = Task { try await client.adopt("native://old", host: closer) }
    try await server.respond(
      try await server.next(), ["id": "p9", "uri": "native://old", "style": "push", "host": "c"])
    #expect(try await adopting.value.id == "p9")
    try await server.send([
      "jsonrpc": "2.0", "id": 1, "method": "page.close",
      "params": ["page": "p9", "reason": "dismissed"],
    ])
    #expect(try await closer.closed.receive() == "native://old dismissed")
    await client.close()
  }
}
