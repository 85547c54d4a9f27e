import TestSupport
import Testing
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// Pushes that edit the stacks of sessions.
@Suite(.timeLimit(.minutes(1)))
struct PushedEditTests {
  private static let everything = Policy.Rule("all", .allow, ["*"])

  private func bridge(_ rules: Policy.Rule...) throws -> InMemoryBridge {
    InMemoryBridge(
      Router(), identify: { Identity(user: $0.token) },
      rules: try CompiledPolicy([Self.everything] + rules))
  }

  /// Opens a session whose client shows the pages `home` and `cart`.
  private func openShell(_ bridge: InMemoryBridge, _ user: String) async throws -> WireClient {
    let (shell, _) = try await WireClient.open(
      bridge, ["hosts": [["scheme": "native", "kind": "page"]]], from: Handshake(token: user))
    for name in ["home", "cart"] {
      _ = try await shell.request("navigation.adopt", ["uri": .string("native://\(name)")])
    }
    return shell
  }

  private func openBackend(_ bridge: InMemoryBridge) async throws -> WireClient {
    try await WireClient.open(bridge, from: Handshake(token: "backend")).client
  }

  private func push(
    _ edit: Value, to audience: Value = ["user": "anna"], key: Value? = nil
  ) -> Value {
    var params: ValueObject = ["to": audience, "method": "navigation.edit", "params": edit]
    params["key"] = key
    return .object(params)
  }

  private func uris(_ shell: WireClient) async throws -> [Value?] {
    let pages = try await shell.request("navigation.stack")["result"]?["pages"]?.array
    return pages?.map { $0["uri"] } ?? []
  }

  private func entry(_ response: Value) -> Value? { response["result"]?["results"]?.array?.first }

  @Test func countsSessionsWhoseStacksHaveChanged() async throws {
    let bridge = try bridge()
    let anna = try await openShell(bridge, "anna")
    let (other, _) = try await WireClient.open(
      bridge, ["hosts": [["scheme": "native", "kind": "page"]]], from: Handshake(token: "anna"))
    let backend = try await openBackend(bridge)
    try await backend.call(
      1, "session.push",
      push(["remove": ["page": "native://cart"], "open": [["uri": "native://order/7"]]]))
    let page = try await anna.acceptPageOpen()
    let result = try await backend.response(1)["result"]
    #expect(result?["delivered"] == 1 && result?["failed"] == 1 && result?["nobody"] == 0)
    let entries = result?["results"]?.array ?? []
    let changed = try #require(entries.first { $0["state"] == "delivered" })
    #expect(changed["result"]?["opened"] == [page["id"] ?? .null])
    let failed = try #require(entries.first { $0["state"] == "failed" })
    #expect(failed["error"]?["data"]?["kind"] == "notOnStack")
    #expect(try await uris(anna) == ["native://home", "native://order/7"])
    #expect(try await uris(other) == [])
  }

  @Test func openersOfRemovedPagesGetOutcome() async throws {
    let bridge = try bridge()
    let anna = try await openShell(bridge, "anna")
    try await anna.call("sheet", "router.open", ["uri": "native://sheet"])
    _ = try await anna.acceptPageOpen()
    let backend = try await openBackend(bridge)
    let response = try await backend.request(
      "session.push", push(["remove": ["page": "native://sheet"]]))
    #expect(entry(response)?["state"] == "delivered")
    #expect(try await anna.response("sheet")["result"]?["outcome"] == "dismissed")
  }

  @Test func absentHostCountsAsWaiting() async throws {
    let bridge = try bridge()
    let anna = try await SequencedClient(
      bridge, ["hosts": [["scheme": "native", "kind": "page"]]], from: Handshake(token: "anna"))
    try await anna.call(1, "navigation.adopt", ["uri": "native://home"])
    _ = try await anna.wire.response(1)
    try await anna.disconnect()
    let backend = try await openBackend(bridge)
    let response = try await backend.request(
      "session.push", push(["remove": ["all": true], "open": [["uri": "native://news"]]]))
    #expect(response["result"]?["waiting"] == 1 && response["result"]?["delivered"] == 0)
    #expect(entry(response)?["state"] == "waiting")
    let resumed = try await anna.resume(after: 1, from: Handshake(token: "anna"))
    #expect(resumed["resumed"] == true)
    let request = try await anna.wire.nextRequest("page.open")
    #expect(request["params"]?["page"]?["uri"] == "native://news")
    try await anna.respond(request, .null)
    #expect(try await anna.wire.nextRequest("page.close")["params"]?["reason"] == "replaced")
  }

  @Test func absentHostCanLosePageAtOnce() async throws {
    let bridge = try bridge()
    let anna = try await SequencedClient(
      bridge, ["hosts": [["scheme": "native", "kind": "page"]]], from: Handshake(token: "anna"))
    for (id, uri) in [(1, "native://home"), (2, "native://cart")] as [(Value, Value)] {
      try await anna.call(id, "navigation.adopt", ["uri": uri])
      _ = try await anna.wire.response(id)
    }
    try await anna.disconnect()
    let backend = try await openBackend(bridge)
    let response = try await backend.request(
      "session.push", push(["remove": ["page": "native://cart"]]))
    #expect(entry(response)?["state"] == "delivered")
  }

  @Test func countsMissingSession() async throws {
    let bridge = try bridge()
    let backend = try await openBackend(bridge)
    let response = try await backend.request(
      "session.push", push(["remove": ["page": "native://cart"]], to: ["user": "ben"]))
    #expect(response["result"] == ["delivered": 0, "waiting": 0, "nobody": 1, "failed": 0])
  }

  @Test(arguments: [true, false]) func asksGuards(isAllowed: Bool) async throws {
    let bridge = try bridge()
    let anna = try await openShell(bridge, "anna")
    let cart = try await anna.request("navigation.contains", ["uri": "native://cart"])
    let page = try #require(cart["result"]?["id"])
    _ = try await anna.request("page.setGuard", ["page": page])
    let backend = try await openBackend(bridge)
    try await backend.call(
      1, "session.push",
      push(["remove": ["from": "native://cart"], "open": [["uri": "native://order/7"]]]))
    let question = try await anna.nextRequest("page.leave")
    #expect(question["params"]?["caller"]?["user"] == "backend")
    try await anna.respond(question, ["allow": .bool(isAllowed), "reason": "unsaved"])
    if isAllowed { _ = try await anna.acceptPageOpen() }
    let entry = entry(try await backend.response(1))
    #expect(entry?["state"] == (isAllowed ? "delivered" : "failed"))
    #expect(entry?["error"]?["data"]?["kind"] == (isAllowed ? nil : "leaveRefused"))
    #expect(
      try await uris(anna).last == (isAllowed ? "native://order/7" : "native://cart" as Value?))
  }

  @Test(
    arguments: [
      (["remove": ["page": "native://cart"]], "no edit"),
      (["open": [["uri": "native://secret"]]], "no secret"),
    ] as [(Value, Value)])
  func policyDecidesAboutPages(edit: Value, rule: Value) async throws {
    let bridge = try bridge(
      Policy.Rule(
        "no edit", .deny, ["navigation.edit"], subjects: ["backend"], routes: ["native://cart"]),
      Policy.Rule(
        "no secret", .deny, ["router.open"], subjects: ["backend"], routes: ["native://secret"]))
    let anna = try await openShell(bridge, "anna")
    let backend = try await openBackend(bridge)
    let entry = entry(try await backend.request("session.push", push(edit)))
    #expect(entry?["error"]?["code"] == 2403 && entry?["error"]?["data"]?["rule"] == rule)
    #expect(try await uris(anna) == ["native://home", "native://cart"])
  }

  @Test func repeatedPushWithKeyChangesStackOnce() async throws {
    let bridge = try bridge()
    let anna = try await openShell(bridge, "anna")
    let backend = try await openBackend(bridge)
    let push = push(["open": [["uri": "native://news"]]], key: "k")
    try await backend.call(1, "session.push", push)
    _ = try await anna.acceptPageOpen()
    let first = try await backend.response(1)["result"]
    #expect(try await backend.request("session.push", push)["result"] == first)
    #expect(try await uris(anna) == ["native://home", "native://cart", "native://news"])
  }

  @Test func refusingHostLeavesStack() async throws {
    let bridge = try bridge()
    let anna = try await openShell(bridge, "anna")
    let backend = try await openBackend(bridge)
    try await backend.call(
      1, "session.push",
      push(["remove": ["all": true], "open": [["uri": "native://a"], ["uri": "native://b"]]]))
    _ = try await anna.acceptPageOpen()
    try await anna.reject(try await anna.nextRequest("page.open"), 77)
    // The page that was shown already closes again, and the stack is as it was.
    #expect(try await anna.nextRequest("page.close")["params"]?["reason"] == "cancelled")
    #expect(entry(try await backend.response(1))?["error"]?["data"]?["kind"] == "hostFailed")
    #expect(try await uris(anna) == ["native://home", "native://cart"])
  }
}
