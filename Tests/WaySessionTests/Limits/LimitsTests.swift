import TestSupport
import Testing
import WayRouting
import WaySession
import WayTransport
import WayValues

/// Limits that an app sets are kept, and told.
@Suite(.timeLimit(.minutes(2)))
struct LimitsTests {
  private let router = Router()

  /// What `session.open` tells.
  private func told(_ limits: Limits) async throws -> Value? {
    let client = try await WireClient.connect(to: InMemoryBridge(router, limits: limits))
    try await client.call(1, "session.open", ["protocol": ["1.0"]])
    return try await client.answer(1)["result"]?["limits"]
  }

  @Test func limitsOutOfRangeAreBroughtIn() async throws {
    var limits = Limits()
    limits.maxInFlight = .max
    limits.maxBatch = -1
    limits.maxQueueBytes = 5
    limits.hello = .seconds(Int64.max)
    limits.ping = .seconds(50)
    let told = try await told(limits)
    #expect(told?["maxInFlight"] == 1_073_741_824)
    #expect(told?["maxBatch"] == 1)
    #expect(told?["maxQueueBytes"] == told?["maxAnswer"])
    #expect(told?["helloMs"] == 86_400_000)
    #expect(told?["silenceMs"] == 50_001)
  }

  private static let levels: [(Int, Bool)] = [(7, true), (8, false)]

  @Test(arguments: levels)
  func messagesNestSoDeep(_ depth: Int, _ isTaken: Bool) async throws {
    var limits = Limits()
    limits.maxDepth = 8
    let client = try await WireClient.connect(to: InMemoryBridge(router, limits: limits))
    // The message itself and its params are two levels.
    let params: Value = (2..<depth).reduce([:]) { value, _ in ["x": value] }
    try await client.call(1, "$/ping", ["x": params])
    let answer = try await client.message()
    #expect(answer["result"] == (isTaken ? .null : nil))
    #expect(answer["error"]?["code"] == (isTaken ? nil : -32700))
  }

  private func host(_ limits: Limits) async throws -> WireClient {
    let client = try await WireClient.connect(to: InMemoryBridge(router, limits: limits))
    try await client.call(
      "host", "host.register", ["hosts": [["scheme": "native", "kind": "page"]]])
    _ = try await client.answer("host")
    return client
  }

  private func open(_ size: Int, _ id: Value) -> Value {
    [
      "jsonrpc": "2.0", "id": id, "method": "router.open",
      "params": [
        "uri": "native://x", "params": ["text": .string(String(repeating: "x", count: size))],
      ],
    ]
  }

  @Test func thePagesOfASessionAreBoundedInBytes() async throws {
    var limits = Limits()
    limits.maxStackBytes = 10_000
    let client = try await host(limits)
    try await client.send(open(6_000, 1))
    try await client.reply(try await client.request("page.open"), .null)
    try await client.send(open(6_000, 2))
    let error = try await client.answer(2)["error"]
    #expect(error?["code"] == 2413)
    #expect(error?["data"]?["limit"] == 10_000)
    try await client.call(3, "navigation.adopt", open(6_000, 0)["params"] ?? .null)
    #expect(try await client.answer(3)["error"]?["code"] == 2413)
    try await client.call(4, "navigation.finish", ["page": "p1"])
    _ = try await client.answer(4)
    try await client.send(open(6_000, 5))
    try await client.reply(try await client.request("page.open"), .null)
    #expect(try await client.request("$/progress")["params"]?["id"] == 5)
  }

  @Test func pagesThatWaitToBeOpenedCountUntilTheyAreGivenUp() async throws {
    var limits = Limits()
    limits.maxStackBytes = 10_000
    let client = try await host(limits)
    for _ in 0..<3 {
      try await client.send(open(6_000, 1))
      let asked = try await client.request("page.open")
      try await client.send(open(6_000, 2))
      #expect(try await client.answer(2)["error"]?["code"] == 2413)
      try await client.notify("$/cancelRequest", ["id": 1])
      #expect(try await client.answer(1)["error"]?["code"] == -32800)
      try await client.reply(asked, .null)
    }
  }

  @Test func aBridgeHoldsSoManySessions() async throws {
    var limits = Limits()
    limits.maxSessions = 1
    let bridge = InMemoryBridge(router, limits: limits)
    let first = try await WireClient.connect(to: bridge)
    try await first.call(1, "$/ping", [:])
    _ = try await first.answer(1)
    let second = try await WireClient.connect(to: bridge, subprotocol: LoopSessions.subprotocol)
    try await second.call(1, "session.open", ["protocol": ["1.0"]])
    #expect(try await second.answer(1)["error"]?["code"] == 2503)
    #expect(try await second.end() == CloseCode.overloaded.rawValue)
    let plain = try await WireClient.connect(to: bridge)
    try await plain.call(1, "$/ping", [:])
    #expect(try await plain.end() == CloseCode.overloaded.rawValue)
    try await first.call(2, "session.open", ["protocol": ["1.0"]])
    #expect(try await first.answer(2)["result"] != nil)
  }
}
