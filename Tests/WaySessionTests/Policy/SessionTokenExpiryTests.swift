import Synchronization
import TestSupport
import Testing
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// Identities that expire, and the clients that are notified before.
@Suite(.timeLimit(.minutes(1)))
struct SessionTokenExpiryTests {
  /// Returns a bridge whose tokens are `USER SECONDS`; the seconds count from the start of the
  /// test.
  private func bridge() -> InMemoryBridge {
    InMemoryBridge(Router()) { handshake in
      let words = (handshake.token ?? "").split(separator: " ")
      guard words.count == 2, let seconds = Int64(words[1]) else {
        throw CallError(code: 1, message: "no such token")
      }
      return Identity(user: String(words[0]), expires: InMemoryBridge.startTime + seconds * 1000)
    }
  }

  @Test func warnsBeforeTokenExpiresThenCloses() async throws {
    let bridge = bridge()
    let (client, opened) = try await WireClient.open(bridge, ["token": "anna 300"])
    #expect(opened["expiresAt"] == .integer(InMemoryBridge.startTime + 300_000))
    try await bridge.server.advance(by: .seconds(239))
    #expect(try await client.hasNoPendingMessages())
    try await bridge.server.advance(by: .seconds(2))
    let event = try await client.nextEvent()
    #expect(event["topic"] == "session.expiring")
    #expect(event["data"]?["expiresAt"] == .integer(InMemoryBridge.startTime + 300_000))
    try await bridge.server.advance(by: .seconds(60))
    #expect(try await client.nextCloseCode() == 4203)
  }

  @Test func keepsClientWithRenewedToken() async throws {
    let bridge = bridge()
    let (client, _) = try await WireClient.open(bridge, ["token": "anna 100"])
    try await bridge.server.advance(by: .seconds(51))
    #expect(try await client.nextEvent()["topic"] == "session.expiring")
    #expect(try await client.callStatus("session.renew", ["token": "ben 900"]) == "identity")
    #expect(try await client.callStatus("session.renew", ["token": "?"]) == "2401")
    let renewed = try await client.request("session.renew", ["token": "anna 900"])
    #expect(renewed["result"]?["expiresAt"] == .integer(InMemoryBridge.startTime + 900_000))
    try await bridge.server.advance(by: .seconds(600))
    #expect(try await client.hasNoPendingMessages())
  }

  @Test func renewalOfJoinedClientKeepsSessionExpiry() async throws {
    let bridge = bridge()
    let (_, anna) = try await WireClient.open(bridge, ["token": "anna 300"])
    let join: Value = [
      "session": anna["session"] ?? .null, "token": anna["joinToken"] ?? .null,
    ]
    let (ben, _) = try await WireClient.open(bridge, ["token": "ben 300", "join": join])
    let renewed = try await ben.request("session.renew", ["token": "ben 900"])
    #expect(renewed["result"]?["expiresAt"] == .integer(InMemoryBridge.startTime + 900_000))
    let (_, third) = try await WireClient.open(bridge, ["join": join])
    #expect(third["expiresAt"] == .integer(InMemoryBridge.startTime + 300_000))
  }

  @Test func clientWithoutTokenFollowsRenewalsOfTheSession() async throws {
    let bridge = InMemoryBridge(
      Router(),
      identify: { handshake in
        // A token is its groups, and its expiry in seconds from the start.
        let words = (handshake.token ?? "").split(separator: " ")
        guard let last = words.last, let seconds = Int64(last) else {
          throw CallError(code: 1, message: "no such token")
        }
        return Identity(
          user: "anna", groups: Set(words.dropLast().map { UTF8Key(String($0)) }),
          expires: InMemoryBridge.startTime + seconds * 1000)
      },
      rules: try CompiledPolicy([Policy.Rule("staff", .allow, ["router.*"], groups: ["staff"])]))
    let (first, opened) = try await WireClient.open(bridge, ["token": "staff 300"])
    let join: Value = [
      "session": opened["session"] ?? .null, "token": opened["joinToken"] ?? .null,
    ]
    let (follower, _) = try await WireClient.open(bridge, ["join": join])
    let (own, _) = try await WireClient.open(bridge, ["join": join, "token": "staff 600"])
    #expect(try await follower.callStatus("router.routes", [:]) == "ok")
    #expect(try await first.callStatus("session.renew", ["token": "other 900"]) == "ok")
    // It loses the group that the session's identity has lost.
    #expect(try await follower.callStatus("router.routes", [:]) != "ok")
    #expect(try await own.callStatus("router.routes", [:]) == "ok")
    #expect(try await first.callStatus("session.renew", ["token": "staff 900"]) == "ok")
    #expect(try await follower.callStatus("router.routes", [:]) == "ok")
    try await bridge.server.advance(by: .seconds(400))
    #expect(try await follower.callStatus("$/ping", [:]) == "ok")
    try await bridge.server.advance(by: .seconds(501))
    for client in [own, follower] {
      #expect(try await client.nextEvent()["topic"] == "session.expiring")
      #expect(try await client.nextCloseCode() == 4203)
    }
  }

  @Test func joiningClientUsesHandshakeToken() async throws {
    let bridge = bridge()
    let (_, anna) = try await WireClient.open(bridge, ["token": "anna 300"])
    let join: Value = [
      "session": anna["session"] ?? .null, "token": anna["joinToken"] ?? .null,
    ]
    let ben = try await WireClient.open(
      bridge, ["join": join], from: Handshake(token: "ben 900"))
    #expect(ben.opened["expiresAt"] == .integer(InMemoryBridge.startTime + 900_000))
    let wrong = try await WireClient.open(
      bridge, ["join": join], from: Handshake(token: "?"))
    #expect(wrong.opened == .null)
  }

  @Test func closesClientAfterTenRejectedRenewals() async throws {
    let bridge = bridge()
    let (client, _) = try await WireClient.open(bridge, ["token": "anna 900"])
    for _ in 1...10 {
      #expect(try await client.callStatus("session.renew", ["token": "?"]) == "2401")
    }
    #expect(try await client.nextCloseCode() == 4029)
    #expect(bridge.loopSessions.rejectedTokens.sessionTokens.load(ordering: .relaxed) == 10)
  }

  @Test func omitsExpiryOfUnlimitedIdentity() async throws {
    let bridge = InMemoryBridge(Router())
    let (client, opened) = try await WireClient.open(bridge)
    #expect(opened["expiresAt"] == nil)
    #expect(
      try await client.request("session.renew", ["token": "x"])["result"]?["expiresAt"] == .null)
  }

  /// An app may return any expiry, also one that is far away.
  @Test(arguments: [(Int64.min, 4203), (.max, nil)] as [(Int64, Int?)])
  func acceptsAnyExpiryOfIdentity(_ expires: Int64, closeCode: Int?) async throws {
    let bridge = InMemoryBridge(Router()) { _ in Identity(user: "anna", expires: expires) }
    let (client, _) = try await WireClient.open(bridge, ["token": "x"])
    try await bridge.server.advance(by: .seconds(1))
    if let closeCode {
      #expect(try await client.nextCloseCode().map(Int.init) == closeCode)
    } else {
      #expect(try await client.request("$/ping")["result"] == .null)
    }
  }

  @Test func rejectsClientWhenIdentifyTimesOut() async throws {
    let started = Mailbox<Bool>()
    let bridge = InMemoryBridge(Router()) { _ in
      started.put(true)
      try await Task.sleep(for: .seconds(3600))
      return Identity()
    }
    let client = try await WireClient.connect(to: bridge, subprotocol: Handshake.sessionSubprotocol)
    try await client.call(1, "session.open", [:])
    // Messages that arrive in the meantime wait.
    try await client.call(2, "$/ping", [:])
    _ = await started.next(within: .seconds(5))
    try await bridge.server.advance(by: .seconds(6))
    #expect(try await client.response(1)["error"]?["code"] == 2503)
    #expect(try await client.nextCloseCode() == 4100)
  }

  @Test func queuesRequestsDuringIdentify() async throws {
    let gate = Mailbox<Bool>()
    let bridge = InMemoryBridge(Router()) { _ in
      _ = await gate.next(within: .seconds(5))
      return Identity(user: "anna")
    }
    let plain = try await WireClient.connect(to: bridge)
    try await plain.call(1, "$/ping", [:])
    try await plain.call(2, "$/ping", [:])
    gate.put(true)
    #expect(try await plain.nextMessage()["id"] == 1)
    #expect(try await plain.nextMessage()["id"] == 2)
    #expect(await bridge.sessionServer.dispatch.sessions(.user("anna")).count == 1)
  }
}
