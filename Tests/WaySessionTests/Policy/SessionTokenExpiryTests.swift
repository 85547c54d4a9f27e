import Synchronization
import TestSupport
import Testing
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// Identities that end, and who is told before.
@Suite(.timeLimit(.minutes(1)))
struct SessionTokenExpiryTests {
  /// A token says `USER SECONDS`: how long it holds from the start of the test.
  private func bridge() -> InMemoryBridge {
    InMemoryBridge(Router()) { handshake in
      let words = (handshake.token ?? "").split(separator: " ")
      guard words.count == 2, let seconds = Int64(words[1]) else {
        throw CallError(code: 1, message: "no such token")
      }
      return Identity(user: String(words[0]), expires: InMemoryBridge.now + seconds * 1000)
    }
  }

  @Test func aClientIsToldBeforeItsTokenEndsAndIsClosedThen() async throws {
    let bridge = bridge()
    let (client, hello) = try await WireClient.open(bridge, ["token": "anna 300"])
    #expect(hello["expiresAt"] == .integer(InMemoryBridge.now + 300_000))
    try await bridge.server.advance(by: .seconds(239))
    #expect(try await client.hasHeardNothing())
    try await bridge.server.advance(by: .seconds(2))
    let event = try await client.event()
    #expect(event["topic"] == "session.expiring")
    #expect(event["data"]?["expiresAt"] == .integer(InMemoryBridge.now + 300_000))
    try await bridge.server.advance(by: .seconds(60))
    #expect(try await client.end() == 4203)
  }

  @Test func aRenewedClientStays() async throws {
    let bridge = bridge()
    let (client, _) = try await WireClient.open(bridge, ["token": "anna 100"])
    try await bridge.server.advance(by: .seconds(51))
    #expect(try await client.event()["topic"] == "session.expiring")
    #expect(try await client.verdict("session.renew", ["token": "ben 900"]) == "identity")
    #expect(try await client.verdict("session.renew", ["token": "?"]) == "2401")
    let renewed = try await client.ask("session.renew", ["token": "anna 900"])
    #expect(renewed["result"]?["expiresAt"] == .integer(InMemoryBridge.now + 900_000))
    try await bridge.server.advance(by: .seconds(600))
    #expect(try await client.hasHeardNothing())
  }

  @Test func whoJoinedWithATokenOfItsOwnDoesNotMakeTheSessionItsOwn() async throws {
    let bridge = bridge()
    let (_, anna) = try await WireClient.open(bridge, ["token": "anna 300"])
    let join: Value = [
      "session": anna["session"] ?? .null, "token": anna["joinToken"] ?? .null,
    ]
    let (ben, _) = try await WireClient.open(bridge, ["token": "ben 300", "join": join])
    let renewed = try await ben.ask("session.renew", ["token": "ben 900"])
    #expect(renewed["result"]?["expiresAt"] == .integer(InMemoryBridge.now + 900_000))
    let (_, third) = try await WireClient.open(bridge, ["join": join])
    #expect(third["expiresAt"] == .integer(InMemoryBridge.now + 300_000))
  }

  @Test func aTokenOfTheHandshakeCountsForWhoJoins() async throws {
    let bridge = bridge()
    let (_, anna) = try await WireClient.open(bridge, ["token": "anna 300"])
    let join: Value = [
      "session": anna["session"] ?? .null, "token": anna["joinToken"] ?? .null,
    ]
    let ben = try await WireClient.open(
      bridge, ["join": join], from: Handshake(token: "ben 900"))
    #expect(ben.hello["expiresAt"] == .integer(InMemoryBridge.now + 900_000))
    let wrong = try await WireClient.open(
      bridge, ["join": join], from: Handshake(token: "?"))
    #expect(wrong.hello == .null)
  }

  @Test func tokensToRenewWithAreNotTriedWithoutEnd() async throws {
    let bridge = bridge()
    let (client, _) = try await WireClient.open(bridge, ["token": "anna 900"])
    for _ in 1...10 {
      #expect(try await client.verdict("session.renew", ["token": "?"]) == "2401")
    }
    #expect(try await client.end() == 4029)
    #expect(bridge.loopHub.refusedTokens.own.load(ordering: .relaxed) == 10)
  }

  @Test func whatHasNoEndIsNotTold() async throws {
    let bridge = InMemoryBridge(Router())
    let (client, hello) = try await WireClient.open(bridge)
    #expect(hello["expiresAt"] == nil)
    #expect(try await client.ask("session.renew", ["token": "x"])["result"]?["expiresAt"] == .null)
  }

  @Test func anAppThatTakesTooLongToTellIs2503() async throws {
    let asked = Mailbox<Bool>()
    let bridge = InMemoryBridge(Router()) { _ in
      asked.put(true)
      try await Task.sleep(for: .seconds(3600))
      return Identity()
    }
    let client = try await WireClient.connect(to: bridge, subprotocol: LoopSessions.subprotocol)
    try await client.call(1, "session.open", [:])
    // What comes meanwhile waits.
    try await client.call(2, "$/ping", [:])
    _ = await asked.next(within: .seconds(5))
    try await bridge.server.advance(by: .seconds(6))
    #expect(try await client.answer(1)["error"]?["code"] == 2503)
    #expect(try await client.end() == 4100)
  }

  @Test func whatComesWhileTheAppIsAskedIsAnsweredAfterIt() async throws {
    let gate = Mailbox<Bool>()
    let bridge = InMemoryBridge(Router()) { _ in
      _ = await gate.next(within: .seconds(5))
      return Identity(user: "anna")
    }
    let plain = try await WireClient.connect(to: bridge)
    try await plain.call(1, "$/ping", [:])
    try await plain.call(2, "$/ping", [:])
    gate.put(true)
    #expect(try await plain.message()["id"] == 1)
    #expect(try await plain.message()["id"] == 2)
    #expect(await bridge.hub.allServers.sessions(.user("anna")).count == 1)
  }
}
