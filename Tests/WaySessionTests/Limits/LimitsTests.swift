import TestSupport
import Testing
import WayRouting
import WaySession
import WayTransport
import WayValues

/// The server enforces and announces the limits that an app sets.
@Suite(.timeLimit(.minutes(2)))
struct LimitsTests {
  private let router = Router()

  /// Returns the limits in the result of `session.open`.
  private func announcedLimits(_ limits: Limits) async throws -> Value? {
    let client = try await WireClient.connect(to: InMemoryBridge(router, limits: limits))
    try await client.call(1, "session.open", ["protocol": ["1.0"]])
    return try await client.response(1)["result"]?["limits"]
  }

  @Test func clampsLimitsOutOfRange() async throws {
    var limits = Limits()
    limits.maxInFlight = .max
    limits.maxBatch = -1
    limits.maxQueueBytes = 5
    limits.hello = .seconds(Int64.max)
    limits.ping = .seconds(50)
    let announced = try await announcedLimits(limits)
    #expect(announced?["maxInFlight"] == 1_073_741_824)
    #expect(announced?["maxBatch"] == 1)
    #expect(announced?["maxQueueBytes"] == announced?["maxAnswer"])
    #expect(announced?["helloMs"] == 86_400_000)
    #expect(announced?["silenceMs"] == 50_001)
  }

  private static let depthCases: [(Int, Bool)] = [(7, true), (8, false)]

  @Test(arguments: depthCases)
  func limitsMessageDepth(_ depth: Int, _ isAccepted: Bool) async throws {
    var limits = Limits()
    limits.maxDepth = 8
    let client = try await WireClient.connect(to: InMemoryBridge(router, limits: limits))
    // The message itself and its params are two levels.
    let params: Value = (2..<depth).reduce([:]) { value, _ in ["x": value] }
    try await client.call(1, "router.explain", ["uri": "a:b", "params": params])
    let response = try await client.nextMessage()
    #expect((response["result"] != nil) == isAccepted)
    #expect(response["error"]?["code"] == (isAccepted ? nil : -32700))
  }

  private func connectHost(_ limits: Limits) async throws -> WireClient {
    let client = try await WireClient.connect(to: InMemoryBridge(router, limits: limits))
    try await client.call(
      "host", "host.register", ["hosts": [["scheme": "native", "kind": "page"]]])
    _ = try await client.response("host")
    return client
  }

  private func openMessage(_ size: Int, _ id: Value) -> Value {
    [
      "jsonrpc": "2.0", "id": id, "method": "router.open",
      "params": [
        "uri": "native://x", "params": ["text": .string(String(repeating: "x", count: size))],
      ],
    ]
  }

  @Test func limitsBytesOfPages() async throws {
    var limits = Limits()
    limits.maxStackBytes = 10_000
    let client = try await connectHost(limits)
    try await client.send(openMessage(6_000, 1))
    try await client.respond(try await client.nextRequest("page.open"), .null)
    try await client.send(openMessage(6_000, 2))
    let error = try await client.response(2)["error"]
    #expect(error?["code"] == 2413)
    #expect(error?["data"]?["limit"] == 10_000)
    try await client.call(3, "navigation.adopt", openMessage(6_000, 0)["params"] ?? .null)
    #expect(try await client.response(3)["error"]?["code"] == 2413)
    try await client.call(4, "navigation.finish", ["page": "p1"])
    _ = try await client.response(4)
    try await client.send(openMessage(6_000, 5))
    try await client.respond(try await client.nextRequest("page.open"), .null)
    #expect(try await client.nextRequest("$/progress")["params"]?["id"] == 5)
  }

  @Test func queuedPagesCountUntilCancelled() async throws {
    var limits = Limits()
    limits.maxStackBytes = 10_000
    let client = try await connectHost(limits)
    for _ in 0..<3 {
      try await client.send(openMessage(6_000, 1))
      let request = try await client.nextRequest("page.open")
      try await client.send(openMessage(6_000, 2))
      #expect(try await client.response(2)["error"]?["code"] == 2413)
      try await client.notify("$/cancelRequest", ["id": 1])
      #expect(try await client.response(1)["error"]?["code"] == -32800)
      try await client.respond(request, .null)
    }
  }

  @Test func limitsSessions() async throws {
    var limits = Limits()
    limits.maxSessions = 1
    let bridge = InMemoryBridge(router, limits: limits)
    let first = try await WireClient.connect(to: bridge)
    try await first.call(1, "$/ping", [:])
    _ = try await first.response(1)
    let second = try await WireClient.connect(to: bridge, subprotocol: Handshake.sessionSubprotocol)
    try await second.call(1, "session.open", ["protocol": ["1.0"]])
    #expect(try await second.response(1)["error"]?["code"] == 2503)
    #expect(try await second.nextCloseCode() == CloseCode.overloaded.rawValue)
    let plain = try await WireClient.connect(to: bridge)
    try await plain.call(1, "$/ping", [:])
    #expect(try await plain.nextCloseCode() == CloseCode.overloaded.rawValue)
    try await first.call(2, "session.open", ["protocol": ["1.0"]])
    #expect(try await first.response(2)["result"] != nil)
  }
}
