import TestSupport
import Testing
import WayRPC
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// `session.list`, `session.push`, and both by HTTP.
@Suite(.timeLimit(.minutes(1)))
struct PushMethodTests {
  private let router = Router()

  private func bridge() throws -> InMemoryBridge {
    try router.task("action://who") { call in .string(call.caller.identity.user ?? "nobody") }
    return InMemoryBridge(
      router,
      identify: { handshake in
        guard let token = handshake.token else { throw CallError(code: 1, message: "no token") }
        return Identity(user: token)
      },
      rules: try CompiledPolicy([Policy.Rule("all", .allow, ["*"])]))
  }

  private func open(_ bridge: InMemoryBridge, _ user: String) async throws -> (
    client: WireClient, hello: Value
  ) {
    try await WireClient.open(
      bridge, ["hosts": [["scheme": "native", "kind": "page"]]], from: Handshake(token: user))
  }

  /// Posts a body; the status, and the answer as JSON.
  private func post(
    _ bridge: InMemoryBridge, _ body: String, token: String? = "backend"
  ) async throws -> (status: Int, answer: Value?) {
    let answered = Mailbox<HTTPResponse>()
    bridge.server.loop.execute {
      _ = bridge.hub.post(
        Array(body.utf8), Handshake(token: token), on: bridge.loopHub.loop
      ) { answered.put($0) }
    }
    let response = try #require(await answered.next(within: .seconds(5)))
    return (response.status, response.body.isEmpty ? nil : try JSON.parse(response.body.span.bytes))
  }

  @Test func aBackEndCallsTheSameMethods() async throws {
    let bridge = try bridge()
    let (status, answer) = try await post(
      bridge, #"{"jsonrpc":"2.0","id":1,"method":"router.invoke","params":{"uri":"action://who"}}"#)
    #expect(status == 200)
    #expect(answer == ["jsonrpc": "2.0", "id": 1, "result": "backend"])
    let (_, batch) = try await post(
      bridge,
      #"[{"jsonrpc":"2.0","id":1,"method":"$/ping"},{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":"b","method":"nope"}]"#
    )
    #expect(batch?.list?.count == 2)
    #expect(batch?.list?.last?["error"]?["code"] == -32601)
    await bridge.server.loop.settle()
    #expect(await bridge.hub.census().sessions == 0)
  }

  @Test(
    arguments: [
      (
        #"{"jsonrpc":"2.0","method":"router.invoke","params":{"uri":"action://who"}}"#, "t", 204,
        nil
      ),
      ("{", "t", 200, -32700), ("[]", "t", 200, -32600), ("{}", "t", 200, -32600),
      (#"{"jsonrpc":"2.0","id":1,"method":"$/ping"}"#, nil, 401, 2401),
    ] as [(String, String?, Int, Int64?)])
  func eachBodyIsAnswered(body: String, token: String?, status: Int, code: Int64?) async throws {
    let bridge = try bridge()
    let answered = try await post(bridge, body, token: token)
    #expect(answered.status == status)
    #expect(answered.answer?["error"]?["code"]?.integer == code)
    await bridge.server.loop.settle()
    #expect(await bridge.hub.census().sessions == 0)
  }

  @Test func aBackEndCallsOnlySoOften() async throws {
    let router = Router()
    var limits = Limits()
    limits.maxRate = 1
    limits.maxBurst = 2
    let bridge = InMemoryBridge(router, limits: limits)
    let ping = #"{"jsonrpc":"2.0","id":1,"method":"$/ping"}"#
    #expect(try await post(bridge, "[\(ping),\(ping.replacing("1,", with: "2,"))]").status == 200)
    let refused = try await post(bridge, ping)
    #expect(refused.status == 429)
    #expect(refused.answer?["error"]?["data"]?["retryAfterMs"] != nil)
  }

  @Test func whoAsksAndGoesEndsItsCall() async throws {
    let cancelled = Mailbox<Bool>()
    let begun = Mailbox<Bool>()
    try router.task("action://slow") { _ in
      begun.put(true)
      try? await Task.sleep(for: .seconds(3600))
      cancelled.put(Task.isCancelled)
      return 1
    }
    let bridge = try bridge()
    let works = Mailbox<any ScheduledWork>()
    let body =
      #"{"jsonrpc":"2.0","id":1,"method":"router.invoke","params":{"uri":"action://slow"}}"#
    bridge.server.loop.execute {
      works.put(
        bridge.hub.post(
          Array(body.utf8), Handshake(token: "a"), on: bridge.loopHub.loop
        ) { _ in })
    }
    let work = try #require(await works.next(within: .seconds(5)))
    #expect(await begun.next(within: .seconds(5)) == true)
    bridge.server.loop.execute { work.cancel() }
    #expect(await cancelled.next(within: .seconds(5)) == true)
  }

  @Test func aPageIsPushedToAUserAndItsOutcomeAwaited() async throws {
    let bridge = try bridge()
    let (anna, hello) = try await open(bridge, "anna")
    let (backend, _) = try await open(bridge, "backend")
    let push: Value = [
      "to": ["user": "anna"], "method": "router.open",
      "params": ["uri": "native://offer", "params": ["n": 1]],
    ]
    try await backend.call(1, "session.push", push)
    let asked = try await anna.message()
    #expect(asked["params"]?["caller"]?["user"] == "backend")
    try await anna.reply(asked, .null)
    let page = asked["params"]?["page"]?["id"] ?? .null
    _ = try await anna.ask("navigation.finish", ["page": page, "result": ["data": "yes"]])
    let delivered = try await backend.answer(1)["result"]?["delivered"]?.list ?? []
    #expect(delivered.count == 1)
    #expect(delivered.first?["session"] == hello["session"])
    #expect(delivered.first?["result"]?["data"] == "yes")
  }

  @Test func aPageThatDoesNotEndInTimeStaysOpen() async throws {
    let bridge = try bridge()
    let (anna, _) = try await open(bridge, "anna")
    let (backend, _) = try await open(bridge, "backend")
    let push: Value = [
      "to": ["user": "anna"], "method": "router.open", "deadlineMs": 1000,
      "params": ["uri": "native://offer"],
    ]
    try await backend.call(1, "session.push", push)
    let asked = try await anna.message()
    try await anna.reply(asked, .null)
    // The wait for the outcome begins elsewhere, in its own time.
    let clock = Task {
      while !Task.isCancelled { try await bridge.server.advance(by: .milliseconds(100)) }
    }
    let delivered = try await backend.answer(1)["result"]?["delivered"]?.list ?? []
    clock.cancel()
    #expect(delivered.first?["error"]?["code"] == 2408)
    #expect(delivered.first?["error"]?["data"]?["page"] == asked["params"]?["page"]?["id"])
    #expect(try await anna.ask("navigation.stack")["result"]?["pages"]?.list?.count == 1)
  }

  @Test func methodsEventsAndLinksArePushed() async throws {
    let bridge = try bridge()
    let (anna, hello) = try await open(bridge, "anna")
    try await anna.subscribe("news")
    let (backend, _) = try await open(bridge, "backend")
    let to: Value = ["session": hello["session"] ?? .null]
    try await backend.call(1, "session.push", ["to": to, "method": "cart", "params": ["n": 2]])
    let asked = try await anna.message()
    #expect(asked["method"] == "cart")
    try await anna.reply(asked, ["ok": true])
    let delivered = try await backend.answer(1)["result"]?["delivered"]?.list ?? []
    #expect(delivered.first?["client"] == hello["client"])
    #expect(delivered.first?["result"] == ["ok": true])
    let event: Value = [
      "to": to, "method": "event", "params": ["topic": "news", "data": 5],
    ]
    #expect(try await backend.ask("session.push", event)["result"] == ["delivered": []])
    #expect(try await anna.event()["data"] == 5)
    let link: Value = [
      "to": ["user": "anna"], "method": "router.deliver", "params": ["uri": "native://link"],
    ]
    #expect(try await backend.verdict("session.push", link) == "ok")
    #expect(try await anna.message()["params"]?["page"]?["uri"] == "native://link")
  }

  @Test(
    arguments: [
      (["to": ["nobody": "x"], "method": "cart"], "-32602"),
      (["to": ["all": false], "method": "cart"], "-32602"),
      (["method": "cart"], "-32602"),
      (["to": ["all": true]], "-32602"),
      (["to": ["all": true], "method": "session.close"], "-32602"),
      (
        ["to": ["all": true], "method": "page.call", "params": ["page": "p", "method": "x"]],
        "-32602"
      ),
      (["to": ["all": true], "method": "router.open"], "-32602"),
      (["to": ["all": true], "method": "event", "params": ["topic": "page.x"]], "-32602"),
    ] as [(Value, String)])
  func aWrongPushIsRefused(params: Value, verdict: String) async throws {
    let (client, _) = try await open(try bridge(), "anna")
    #expect(try await client.verdict("session.push", params) == verdict)
  }

  @Test func theSessionsAreListed() async throws {
    let bridge = try bridge()
    let (client, hello) = try await open(bridge, "anna")
    let listed = try await client.ask("session.list")["result"]?.list ?? []
    #expect(listed.count == 1)
    #expect(listed.first?["session"] == hello["session"])
    #expect(listed.first?["user"] == "anna")
    #expect(listed.first?["clients"]?.list?.first?["id"] == hello["client"])
    // No secret is among it.
    #expect(!"\(listed)".contains(hello["token"]?.string ?? "?"))
    #expect(!"\(listed)".contains(hello["joinToken"]?.string ?? "?"))
  }
}
