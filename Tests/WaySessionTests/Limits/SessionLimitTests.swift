import TestSupport
import Testing
import WayRouting
import WaySession
import WayTransport
import WayValues

/// The load that a peer can accumulate in a session is bounded, and all of it is released.
@Suite(.timeLimit(.minutes(2)))
struct SessionLimitTests {
  private let router = Router()

  private func connectHost(_ bridge: InMemoryBridge) async throws -> WireClient {
    let client = try await WireClient.connect(to: bridge)
    try await client.call(
      "host", "host.register", ["hosts": [["scheme": "native", "kind": "page"]]])
    _ = try await client.response("host")
    return client
  }

  private func openShellAndOpener(_ bridge: InMemoryBridge) async throws -> (
    shell: WireClient, opener: WireClient
  ) {
    let shell = try await WireClient.connect(to: bridge, subprotocol: Handshake.sessionSubprotocol)
    try await shell.call(
      "hello", "session.open",
      ["protocol": ["1.0"], "hosts": [["scheme": "native", "kind": "page"]]])
    let session = try await shell.response("hello")["result"]
    let opener = try await WireClient.connect(to: bridge, subprotocol: Handshake.sessionSubprotocol)
    try await opener.call(
      "hello", "session.open",
      [
        "protocol": ["1.0"],
        "join": [
          "session": session?["session"] ?? .null, "token": session?["joinToken"] ?? .null,
        ],
      ])
    _ = try await opener.response("hello")
    return (shell, opener)
  }

  @Test func queuedOpensFailWhenHostLeaves() async throws {
    var limits = Limits()
    limits.maxInFlight = 10_000
    limits.maxRate = 0
    let (shell, opener) = try await openShellAndOpener(InMemoryBridge(router, limits: limits))
    let count: Int64 = 5_000
    for id in 0..<count {
      try await opener.call(.integer(id), "router.open", ["uri": "native://x"])
    }
    _ = try await shell.nextRequest("page.open")
    try await shell.close()
    for _ in 0..<count {
      let response = try await opener.nextMessage()
      #expect(response["error"]?["code"]?.integer.map { $0 == 2504 || $0 == 2404 } == true)
    }
  }

  @Test func limitsCallsInFlight() async throws {
    var limits = Limits()
    limits.maxInFlight = 3
    let client = try await connectHost(InMemoryBridge(router, limits: limits))
    for id in 1...4 {
      try await client.call(.integer(Int64(id)), "router.open", ["uri": "native://x"])
    }
    #expect(try await client.response(4)["error"]?["code"] == 2429)
  }

  @Test func removesCancelledOperationFromQueue() async throws {
    let bridge = InMemoryBridge(router)
    let client = try await connectHost(bridge)
    try await client.call("first", "router.open", ["uri": "native://x"])
    let request = try await client.nextRequest("page.open")
    for _ in 0..<300 {
      try await client.call("next", "navigation.back", [:])
      try await client.notify("$/cancelRequest", ["id": "next"])
      #expect(try await client.response("next")["error"]?["code"] == -32800)
    }
    try await client.respond(request, .null)
    _ = try await client.nextRequest("$/progress")
    try await client.call("stack", "navigation.stack", [:])
    #expect(try await client.response("stack")["result"]?["pages"]?.array?.count == 1)
  }

  @Test func limitsClientsPerSession() async throws {
    var limits = Limits()
    limits.maxClients = 1
    let bridge = InMemoryBridge(router, limits: limits)
    let first = try await WireClient.connect(to: bridge, subprotocol: Handshake.sessionSubprotocol)
    try await first.call("hello", "session.open", ["protocol": ["1.0"]])
    let session = try await first.response("hello")["result"]
    let second = try await WireClient.connect(to: bridge, subprotocol: Handshake.sessionSubprotocol)
    let join: Value = [
      "session": session?["session"] ?? .null, "token": session?["joinToken"] ?? .null,
    ]
    try await second.call("hello", "session.open", ["protocol": ["1.0"], "join": join])
    #expect(try await second.response("hello")["error"]?["code"] == 2429)
  }

  @Test func ignoresBatchEntriesAfterClose() async throws {
    let (shell, opener) = try await openShellAndOpener(InMemoryBridge(router))
    try await opener.batch([
      ["jsonrpc": "2.0", "method": "session.close"],
      [
        "jsonrpc": "2.0", "id": 1, "method": "host.register",
        "params": ["hosts": [["patterns": ["action://ghost"], "kind": "task"]]],
      ],
    ])
    await #expect(throws: TranscriptFailure.self) { try await opener.nextMessage() }
    try await shell.call(2, "router.canOpen", ["uri": "action://ghost"])
    #expect(try await shell.response(2)["result"] == ["canOpen": false])
  }

  @Test func replacesOversizedResponseWithError() async throws {
    var limits = Limits()
    limits.maxAnswer = 1_000
    try router.task("action://large") { _ in .string(String(repeating: "x", count: 2_000)) }
    let client = try await WireClient.connect(to: InMemoryBridge(router, limits: limits))
    try await client.call(1, "router.invoke", ["uri": "action://large"])
    #expect(try await client.response(1)["error"]?["code"] == 2413)
    try await client.call(2, "$/ping", [:])
    #expect(try await client.response(2)["result"] == .null)
  }

  @Test func endsSessionWithLastClient() async throws {
    let bridge = InMemoryBridge(router)
    let (shell, opener) = try await openShellAndOpener(bridge)
    #expect(await bridge.sessionServer.totals().sessions == 1)
    try await shell.close()
    try await opener.close()
    _ = try? await opener.nextMessage()
    #expect(await bridge.sessionServer.totals().sessions == 0)
  }
}
