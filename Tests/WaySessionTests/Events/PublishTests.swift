import TestSupport
import Testing
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// Events that the app publishes.
@Suite(.timeLimit(.minutes(1)))
struct PublishTests {
  private let bridge = InMemoryBridge(
    Router(), identify: { Identity(user: $0.token, groups: $0.token == "ben" ? ["beta"] : []) })

  private func open(_ user: Value) async throws -> (client: WireClient, opened: Value) {
    try await WireClient.open(bridge, ["token": user])
  }

  private func publish(
    _ topic: String, _ data: Value, to audience: Audience = .all, retain: Int = 0
  ) async throws {
    try await bridge.sessionServer.dispatch.publish(
      topic, data, to: audience, retain: retain)
  }

  @Test func deliversEventToSubscribersInAudience() async throws {
    let (anna, opened) = try await open("anna")
    let (guest, guestOpened) = try await WireClient.open(bridge, joining: opened)
    let (ben, _) = try await open("ben")
    for client in [anna, guest, ben] { try await client.subscribe("cart.*") }
    let session = try #require(opened["session"]?.string)
    let name = try #require(guestOpened["client"]?.string)
    try await publish("cart.changed", 1)
    try await publish("order.changed", 2)
    try await publish("cart.changed", 3, to: .user("anna"))
    try await publish("cart.changed", 4, to: .group("beta"))
    try await publish("cart.changed", 5, to: .client(name, session: session))
    try await publish("cart.changed", 6, to: .session(session))
    try await publish("cart.changed", 7, to: .session("s-none"))
    for (client, numbers) in [(anna, [1, 3, 6]), (guest, [1, 3, 5, 6]), (ben, [1, 4])] {
      for number in numbers {
        #expect(
          try await client.nextEvent()
            == [
              "topic": "cart.changed", "data": .integer(Int64(number)),
              "at": .integer(InMemoryBridge.startTime),
            ])
      }
      #expect(try await client.hasNoPendingMessages())
    }
  }

  @Test func replaysRetainedEventsBeforeNewOnes() async throws {
    for number in 1...4 { try await publish("news", .integer(Int64(number)), retain: 2) }
    try await publish("news", "unkept")
    try await publish("for.ben", 5, to: .user("ben"), retain: 1)
    let (anna, _) = try await open("anna")
    try await anna.subscribe("new*", "for.*")
    try await publish("news", 6)
    for number in [3, 4, 6] {
      #expect(try await anna.nextEvent()["data"] == .integer(Int64(number)))
    }
    try await anna.subscribe("news", "*")
    #expect(try await anna.hasNoPendingMessages())
    let (ben, _) = try await open("ben")
    try await ben.subscribe("*")
    for number in [3, 4, 5] {
      #expect(try await ben.nextEvent()["data"] == .integer(Int64(number)))
    }
    await bridge.sessionServer.dispatch.forget("news", for: .all)
    let (carl, _) = try await open("carl")
    try await carl.subscribe("*")
    #expect(try await carl.hasNoPendingMessages())
  }

  @Test(arguments: [
    ("", 0, -32602), ("a b", 0, -32602), ("a*", 0, -32602), ("page.own", 0, -32602),
    ("server.own", 0, -32602), ("own", -1, -32602), ("own", 101, -32602),
  ])
  func rejectsInvalidTopicOrRetention(topic: String, retain: Int, code: Int) async {
    let error = await #expect(throws: CallError.self) {
      try await publish(topic, .null, retain: retain)
    }
    #expect(error?.code == code)
  }

  @Test func removesStateOfEndedSession() async throws {
    let (anna, opened) = try await open("anna")
    let session = try #require(opened["session"]?.string)
    try await publish("own", 1, to: .session(session), retain: 1)
    #expect(await bridge.loopSessions.sessionAndRetainedCounts == [1, 1])
    try await anna.close()
    _ = try? await anna.nextMessage()
    #expect(await bridge.loopSessions.sessionAndRetainedCounts == [0, 0])
  }

  @Test func rejectsOversizedData() async throws {
    var deep: Value = .null
    for _ in 0..<200 { deep = [deep] }
    let large = Value.string(String(repeating: "x", count: 4 << 20))
    for (data, retain) in [(deep, 0), (large, 0), (large, 1)] {
      let error = await #expect(throws: CallError.self) {
        try await publish("own", data, retain: retain)
      }
      #expect(error?.code == 2413)
    }
    var limits = Limits()
    limits.maxAnswer = 8 << 20
    let roomy = InMemoryBridge(Router(), limits: limits).sessionServer
    try await roomy.publish("own", large, to: .all, retain: 0)
    let error = await #expect(throws: CallError.self) {
      try await roomy.publish("own", large, to: .all, retain: 1)
    }
    #expect(error?.code == 2413)
  }

  @Test func closesClientThatDoesNotRead() async throws {
    let bridge = InMemoryBridge(Router())
    let stuck = StalledChannel(to: bridge)
    try await stuck.deliver(
      #"{"jsonrpc":"2.0","id":1,"method":"events.subscribe","params":{"topics":["*"]}}"#)
    for (waiting, sent) in [(0, 2), (1 << 20, 3), (1 << 20 + 1, 3)] {
      #expect(stuck.closeCode == nil)
      stuck.bufferedBytes = waiting
      try await bridge.sessionServer.dispatch.publish("own", 1, to: .all, retain: 0)
      #expect(stuck.sentCount == sent)
    }
    #expect(stuck.closeCode == .slowConsumer)
  }
}

extension LoopSessions {
  /// The number of sessions in the audience index, and of retained events.
  fileprivate var sessionAndRetainedCounts: [Int] {
    [audiences.sessions(in: .all).count, retainedEvents.events { _, _ in true }.count]
  }
}
