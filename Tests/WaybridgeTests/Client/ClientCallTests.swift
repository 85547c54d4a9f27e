import TestSupport
import Testing
import WayTransport
import Waybridge
import WaybridgeClient

/// The Swift client with a server that is slow, wrong or disconnected.
@Suite(.timeLimit(.minutes(1)))
struct ClientCallTests {
  private let server = ScriptedServer()

  @Test(
    arguments: [
      .zero, .milliseconds(-1), .seconds(2_147_484), .seconds(Int64.max),
    ] as [Duration])
  func rejectsADeadlineOutOfRange(deadline: Duration) async throws {
    let client = try await server.openClient()
    for call in [
      { _ = try await client.open("native://a", timeout: deadline) },
      { _ = try await client.invoke("action://a", timeout: deadline) },
      { _ = try await client.request("a", timeout: deadline) },
    ] as [@Sendable () async throws -> Void] {
      let error = await #expect(throws: CallError.self) { try await call() }
      #expect(error?.code == -32602)
    }
    await client.close()
  }

  @Test(
    arguments: [
      (.milliseconds(1), 1), (.microseconds(1), 1), (.microseconds(1500), 2), (.seconds(3), 3000),
      (.seconds(2_147_482), 2_147_482_000),
    ] as [(Duration, Int64)])
  func sendsTheDeadlineInWholeMilliseconds(deadline: Duration, sent: Int64) async throws {
    let client = try await server.openClient()
    let call = Task { try await client.invoke("action://a", timeout: deadline) }
    let request = try await server.next()
    #expect(request["params"]?["deadlineMs"] == .integer(sent))
    try await server.respond(request, 1)
    #expect(try await call.value == 1)
    await client.close()
  }

  @Test func callFailsWhenTheServerMissesTheDeadline() async throws {
    let client = try await server.openClient()
    let call = Task { try await client.invoke("action://a", timeout: .seconds(2)) }
    let request = try await server.next()
    await server.loop.advance(by: .seconds(3))
    #expect(
      try await server.next()
        == ["jsonrpc": "2.0", "method": "$/cancelRequest", "params": ["id": request["id"] ?? nil]])
    let error = await #expect(throws: CallError.self) { try await call.value }
    #expect(error?.protocolCode == .deadline)
    // A late response belongs to no call.
    try await server.respond(request, 1)
    try await ping(client)
    await client.close()
  }

  @Test func deadlineOfAPageEndsWhenItIsShown() async throws {
    let client = try await server.openClient()
    let shown = Mailbox<String>()
    let call = Task {
      try await client.open("native://a", timeout: .seconds(2)) { shown.put($0) }
    }
    let request = try await server.next()
    try await server.send([
      "jsonrpc": "2.0", "method": "$/progress",
      "params": ["id": request["id"] ?? nil, "value": ["opened": ["page": "p1"]]],
    ])
    #expect(try await shown.receive() == "p1")
    await server.loop.advance(by: .seconds(60))
    try await server.respond(request, ["outcome": "finished", "code": 3, "data": [1]])
    #expect(try await call.value == .finished(code: 3, data: [1]))
    await client.close()
  }

  @Test func callOfACancelledTaskIsNotSent() async throws {
    let client = try await server.openClient()
    let call = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await client.invoke("action://a")
    }
    let error = await #expect(throws: CallError.self) { try await call.value }
    #expect(error?.protocolCode == .cancelled)
    try await ping(client)
    await client.close()
  }

  @Test func callThatIsTooLargeIsNotSent() async throws {
    let client = try await server.openClient(maxMessage: 200)
    let text = Value.string(String(repeating: "x", count: 200))
    let error = await #expect(throws: CallError.self) {
      try await client.invoke("action://a", ["text": text])
    }
    #expect(error?.code == 2413)
    try await ping(client)
    await client.close()
  }

  @Test func deliversADeepLinkByURIOrAction() async throws {
    let client = try await server.openClient()
    let delivering = Task {
      try await client.deliver("native://a", ["x": 1], key: "k")
      try await client.deliver(action: "open", url: "native://b?y=2", ["z": 3])
      try await client.deliver(action: "home")
    }
    for params in [
      ["uri": "native://a", "params": ["x": 1], "key": "k"],
      ["action": "open", "action_url": "native://b?y=2", "params": ["z": 3]],
      ["action": "home"],
    ] as [Value] {
      let request = try await server.next()
      #expect(request["method"] == "router.deliver")
      #expect(request["params"] == params)
      try await server.respond(request, nil)
    }
    try await delivering.value
    await client.close()
  }

  struct ClientRequestCase: Sendable, CustomTestStringConvertible {
    let method: String
    let send: @Sendable (BridgeClient) async throws -> Void
    var testDescription: String { method }

    init(_ method: String, _ perform: @escaping @Sendable (BridgeClient) async throws -> Void) {
      self.method = method
      self.send = perform
    }
  }

  @Test(arguments: [
    ClientRequestCase("router.open") { _ = try await $0.open("native://a") },
    ClientRequestCase("router.canOpen") { _ = try await $0.canOpen("native://a") },
    ClientRequestCase("router.routes") { _ = try await $0.routes() },
    ClientRequestCase("navigation.back") { try await $0.back() },
    ClientRequestCase("navigation.finish") { try await $0.finish() },
    ClientRequestCase("navigation.stack") { _ = try await $0.stack() },
    ClientRequestCase("navigation.contains") { _ = try await $0.contains("p1") },
    ClientRequestCase("navigation.adopt") { try await $0.adopt("native://a") },
  ])
  func malformedResponseIsAnError(_ question: ClientRequestCase) async throws {
    let client = try await server.openClient()
    let call = Task { try await question.send(client) }
    let request = try await server.next()
    #expect(request["method"] == .string(question.method))
    try await server.respond(request, 7)
    let error = await #expect(throws: CallError.self) { try await call.value }
    #expect(error?.kind == "malformed")
    #expect(error?.message.contains(question.method) == true)
    await client.close()
  }

  @Test func malformedOpenResultIsAnError() async throws {
    let client = server.connectClient()
    let opening = Task {
      try await client.open(BridgeClient.SessionOptions(name: "a", version: "1"))
    }
    try await server.respond(try await server.next(), ["session": "s"])
    let error = await #expect(throws: CallError.self) { try await opening.value }
    #expect(error?.kind == "malformed")
    await client.close()
  }

  private func ping(_ client: BridgeClient) async throws {
    let ping = Task { try await client.request("$/ping") }
    let request = try await server.next()
    #expect(request["method"] == "$/ping")
    try await server.respond(request, nil)
    _ = try await ping.value
  }
}
