import TestSupport
import Testing
import WayTransport
import Waybridge
import WaybridgeClient

/// What the Swift client makes of a server that is late, wrong or gone.
@Suite(.timeLimit(.minutes(1)))
struct ClientCallTests {
  private let server = ScriptedServer()

  @Test(
    arguments: [
      .zero, .milliseconds(-1), .seconds(2_147_484), .seconds(Int64.max),
    ] as [Duration])
  func aDeadlineThatTheWireCannotSayIsRefused(deadline: Duration) async throws {
    let client = try await server.open()
    for call in [
      { _ = try await client.open("native://a", deadline: deadline) },
      { _ = try await client.invoke("action://a", deadline: deadline) },
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
  func aDeadlineGoesOutInWholeMilliseconds(deadline: Duration, sent: Int64) async throws {
    let client = try await server.open()
    let call = Task { try await client.invoke("action://a", deadline: deadline) }
    let request = try await server.next()
    #expect(request["params"]?["deadlineMs"] == .integer(sent))
    try await server.answer(request, 1)
    #expect(try await call.value == 1)
    await client.close()
  }

  @Test func aServerThatMissesTheDeadlineIsNotAwaited() async throws {
    let client = try await server.open()
    let call = Task { try await client.invoke("action://a", deadline: .seconds(2)) }
    let request = try await server.next()
    await server.loop.advance(by: .seconds(3))
    #expect(
      try await server.next()
        == ["jsonrpc": "2.0", "method": "$/cancelRequest", "params": ["id": request["id"] ?? nil]])
    let error = await #expect(throws: CallError.self) { try await call.value }
    #expect(error?.protocolCode == .deadline)
    // An answer that comes all the same is nobody's.
    try await server.answer(request, 1)
    try await ping(client)
    await client.close()
  }

  @Test func theDeadlineOfAPageEndsWhenItIsShown() async throws {
    let client = try await server.open()
    let shown = Mailbox<String>()
    let call = Task {
      try await client.open("native://a", deadline: .seconds(2)) { shown.put($0) }
    }
    let request = try await server.next()
    try await server.send([
      "jsonrpc": "2.0", "method": "$/progress",
      "params": ["id": request["id"] ?? nil, "value": ["opened": ["page": "p1"]]],
    ])
    #expect(try await shown.take() == "p1")
    await server.loop.advance(by: .seconds(60))
    try await server.answer(request, ["outcome": "finished", "code": 3, "data": [1]])
    #expect(try await call.value == .finished(code: 3, data: [1]))
    await client.close()
  }

  @Test func aCallOfACancelledTaskIsNotSent() async throws {
    let client = try await server.open()
    let call = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await client.invoke("action://a")
    }
    let error = await #expect(throws: CallError.self) { try await call.value }
    #expect(error?.protocolCode == .cancelled)
    try await ping(client)
    await client.close()
  }

  @Test func aCallThatIsTooLargeIsNotSent() async throws {
    let client = try await server.open(maxMessage: 200)
    let text = Value.string(String(repeating: "x", count: 200))
    let error = await #expect(throws: CallError.self) {
      try await client.invoke("action://a", ["text": text])
    }
    #expect(error?.code == 2413)
    try await ping(client)
    await client.close()
  }

  @Test func paramsThatNestTooDeepAreNotSent() async throws {
    let client = try await server.open()
    let deep = (0..<200).reduce(Value.null) { value, _ in [value] }
    let error = await #expect(throws: CallError.self) {
      try await client.invoke("action://a", ["deep": deep])
    }
    #expect(error?.code == -32602)
    await #expect(throws: CallError.self) { try await client.notify("a", [deep]) }
    try await ping(client)
    await client.close()
  }

  @Test func aLinkIsDeliveredInBothShapes() async throws {
    let client = try await server.open()
    let delivering = Task {
      try await client.deliver("native://a", ["x": 1])
      try await client.deliver(action: "open", url: "native://b?y=2", ["z": 3])
      try await client.deliver(action: "home")
    }
    for params: Value in [
      ["uri": "native://a", "params": ["x": 1]],
      ["action": "open", "action_url": "native://b?y=2", "params": ["z": 3]], ["action": "home"],
    ] {
      let request = try await server.next()
      #expect(request["method"] == "router.deliver")
      #expect(request["params"] == params)
      try await server.answer(request, .null)
    }
    try await delivering.value
    await client.close()
  }

  struct ClientRequestCase: Sendable, CustomTestStringConvertible {
    let method: String
    let ask: @Sendable (BridgeClient) async throws -> Void
    var testDescription: String { method }

    init(_ method: String, _ ask: @escaping @Sendable (BridgeClient) async throws -> Void) {
      self.method = method
      self.ask = ask
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
  func anAnswerOfAnotherShapeIsSaidToBeOne(_ question: ClientRequestCase) async throws {
    let client = try await server.open()
    let call = Task { try await question.ask(client) }
    let request = try await server.next()
    #expect(request["method"] == .string(question.method))
    try await server.answer(request, 7)
    let error = await #expect(throws: CallError.self) { try await call.value }
    #expect(error?.kind == "malformed")
    #expect(error?.message.contains(question.method) == true)
    await client.close()
  }

  @Test func aSessionWithoutNameIsNoSession() async throws {
    let client = server.connect()
    let opening = Task {
      try await client.open(BridgeClient.SessionOptions(name: "a", version: "1"))
    }
    try await server.answer(try await server.next(), ["session": "s"])
    let error = await #expect(throws: CallError.self) { try await opening.value }
    #expect(error?.kind == "malformed")
    await client.close()
  }

  private func ping(_ client: BridgeClient) async throws {
    let ping = Task { try await client.request("$/ping") }
    let request = try await server.next()
    #expect(request["method"] == "$/ping")
    try await server.answer(request, nil)
    _ = try await ping.value
  }
}
