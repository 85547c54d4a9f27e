import TestSupport
import Testing
import Waybridge
import WaybridgeClient

/// Interceptors that a client registers, and the gates of its session.
@Suite(.timeLimit(.minutes(1)))
struct ClientInterceptorTests {
  private let server = ScriptedServer()

  private static let limit = BridgeClient.Host.interceptor(
    "limit", scheme: "Action", patterns: ["/pay"], groups: ["money"], priority: 3,
    timeout: .seconds(5)
  ) { call in
    struct Sum: Decodable { let sum: Int }
    switch try call.decode(Sum.self).sum {
    case 0: return .next
    case ..<10:
      var params = call.params
      params["by"] = .string(call.route ?? "no route")
      return .change(params: params)
    case ..<20: return .redirect(to: "action://ask")
    case ..<30: return .redirect(to: "action://ask", params: ["uri": .string(call.uri)])
    case ..<40: return .refuse("too much for \(call.caller?.client?.id ?? "the app")")
    default: throw CallError(code: 7, message: "broken")
    }
  }

  private static let declaration: Value = [
    "scheme": "action", "patterns": ["/pay"], "kind": "interceptor", "name": "limit",
    "groups": ["money"], "priority": 3, "timeoutMs": 5000,
  ]

  private func ask(
    _ name: Value, _ params: Value, caller: Value = .null
  ) async throws -> Value {
    try await server.send([
      "jsonrpc": "2.0", "id": 1, "method": "router.intercept",
      "params": [
        "name": name, "uri": "action://pay", "params": params, "exts": [:], "route": "pay",
        "caller": caller,
      ],
    ])
    return try await server.next()
  }

  @Test(
    arguments: [
      (0, ["decision": "next"]),
      (5, ["decision": "change", "params": ["sum": 5, "by": "pay"]]),
      (15, ["decision": "redirect", "uri": "action://ask"]),
      (25, ["decision": "redirect", "uri": "action://ask", "params": ["uri": "action://pay"]]),
      (35, ["decision": "refuse", "reason": "too much for c-2"]),
    ] as [(Int64, Value)])
  func decidesAboutCalls(sum: Int64, response: Value) async throws {
    let client = try await server.openClient(.init(name: "a", version: "1", hosts: [Self.limit]))
    let caller: Value = ["session": "s", "client": ["id": "c-2"]]
    let decided = try await ask("limit", ["sum": .integer(sum)], caller: caller)
    #expect(decided["result"] == response)
    await client.close()
  }

  @Test func failuresAndUnreadableQuestionsAreErrors() async throws {
    let client = try await server.openClient(.init(name: "a", version: "1", hosts: [Self.limit]))
    #expect(try await ask("limit", ["sum": 40])["error"]?["code"] == 7)
    #expect(try await ask("limit", ["sum": "none"])["error"]?["code"] == 2502)
    #expect(try await ask(.null, [:])["error"]?["code"] == -32602)
    #expect(try await ask("limit", .null)["error"]?["code"] == -32602)
    // It was removed while the question was on its way.
    #expect(try await ask("other", [:])["result"] == ["decision": "next"])
    await client.close()
  }

  @Test func isRegisteredReplacedAndUnregistered() async throws {
    let client = try await server.openClient(.init(name: "a", version: "1", hosts: [Self.limit]))
    let strict = BridgeClient.Host.interceptor(
      "limit", scheme: "action", patterns: ["/pay"], groups: ["money"], priority: 3,
      timeout: .seconds(5), { _ in .refuse("never") })
    let registering = Task { try await client.register([strict]) }
    let registration = try await server.next()
    #expect(registration["method"] == "host.register")
    #expect(registration["params"] == ["hosts": [Self.declaration]])
    try await server.respond(registration, ["hosts": []])
    try await registering.value
    #expect(try await ask("limit", [:])["result"] == ["decision": "refuse", "reason": "never"])
    let leaving = Task { try await client.unregister([Self.limit]) }
    let removal = try await server.next()
    #expect(removal["method"] == "host.unregister")
    #expect(removal["params"] == ["hosts": [Self.declaration]])
    try await server.respond(removal, ["hosts": []])
    try await leaving.value
    #expect(try await ask("limit", [:])["result"] == ["decision": "next"])
    await client.close()
  }

  @Test func namesAreUniqueInAClient() async throws {
    let other = BridgeClient.Host.interceptor("limit", groups: ["money"]) { _ in .next }
    let client = try await server.openClient(.init(name: "a", version: "1", hosts: [Self.limit]))
    let error = await #expect(throws: CallError.self) { try await client.register([other]) }
    #expect(error?.code == 2409)
    let options = BridgeClient.SessionOptions(name: "b", version: "1", hosts: [Self.limit, other])
    let opening = await #expect(throws: CallError.self) {
      try await server.connectClient().open(options)
    }
    #expect(opening?.code == 2409)
    #expect(try await ask("limit", ["sum": 0])["result"] == ["decision": "next"])
    await client.close()
  }

  @Test(arguments: [Duration.zero, .seconds(301), .seconds(Int64.max), .seconds(-1)])
  func serverRejectsWrongTimeouts(timeout: Duration) async throws {
    let fixture = try await ResumeFixture()
    let (client, _) = try await fixture.connect()
    let wrong = BridgeClient.Host.interceptor("a", groups: ["b"], timeout: timeout) { _ in .next }
    let error = await #expect(throws: CallError.self) { try await client.register([wrong]) }
    #expect(error?.code == -32602)
    await client.close()
  }

  @Test func refusesACallOfAnotherClientAlsoInANewSession() async throws {
    let fixture = try await ResumeFixture()
    let strict = BridgeClient.Host.interceptor("strict", patterns: ["action://count"]) { call in
      call.params["n"] == 1 ? .refuse("not one") : .change(params: ["n": 3])
    }
    let (shell, connector) = try await fixture.connect(
      .init(name: "shell", version: "1", hosts: [strict]))
    func expectDecisions() async throws {
      let (client, _) = try await fixture.join(shell)
      let error = await #expect(throws: CallError.self) {
        try await client.invoke("action://count", ["n": 1])
      }
      #expect(error?.code == 2423)
      #expect(error?.data?["interceptor"] == "strict")
      #expect(error?.data?["reason"] == "not one")
      #expect(try await client.invoke("action://count", ["n": 2]) == 3)
      await client.close()
    }
    try await expectDecisions()

    let states = await shell.connectionStates()
    connector.isReachable = false
    await connector.disconnect()
    await fixture.loop.advance(by: .seconds(125))
    connector.isReachable = true
    await fixture.loop.advance(by: .seconds(31))
    for await state in states { if case .sessionReplaced = state { break } }
    try await expectDecisions()
    #expect(fixture.counted.all == [3, 3])

    try await shell.unregister([strict])
    #expect(try await shell.invoke("action://count", ["n": 1]) == 1)
    await shell.close()
  }

  @Test func gatesAreListedOpenedAndClosed() async throws {
    let fixture = try await ResumeFixture()
    try fixture.router.task("action://orders", name: "orders") { _ in "orders" }
    fixture.router.add(
      Gate("signedIn", on: [.routes(["orders"])], opens: try RouteURI("native://login")))
    let (client, _) = try await fixture.connect()
    #expect(try await client.gates().map(\.isOpen) == [false])
    let error = await #expect(throws: CallError.self) { try await client.invoke("action://orders") }
    #expect(error?.data?["gate"] == "signedIn")
    try await client.setGate("signedIn", isOpen: true)
    #expect(try await client.gates().map(\.name) == ["signedIn"])
    #expect(try await client.gates().map(\.isOpen) == [true])
    #expect(try await client.invoke("action://orders") == "orders")
    try await client.setGate("signedIn", isOpen: false)
    #expect(try await client.gates().map(\.isOpen) == [false])
    let unknown = await #expect(throws: CallError.self) {
      try await client.setGate("other", isOpen: true)
    }
    #expect(unknown?.kind == "noGate")
    await client.close()
  }
}
