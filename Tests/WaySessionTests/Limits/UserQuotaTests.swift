import TestSupport
import Testing
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

@Suite struct UserQuotaTests {
  private func bridge(_ change: (inout Limits) -> Void) throws -> InMemoryBridge {
    var limits = Limits()
    change(&limits)
    let rules = try CompiledPolicy([
      Policy.Rule("operators", .allow, ["admin.*"], subjects: ["operator"]),
      Policy.Rule("all", .allow, ["router.*"]),
    ])
    return InMemoryBridge(
      Router(), limits: limits, identify: { Identity(user: $0.token) }, rules: rules)
  }

  /// Opens a session; returns the client, or the code of the error after which the server closes.
  private func open(
    _ bridge: InMemoryBridge, _ user: String?, isReserved: Bool = false
  ) async throws -> (client: WireClient, error: Value?) {
    var handshake = Handshake(token: user)
    handshake.isReserved = isReserved
    let client = try await WireClient.connect(
      to: bridge, subprotocol: Handshake.sessionSubprotocol, from: handshake)
    try await client.call(1, "session.open", ["protocol": ["1.0"]])
    let error = try await client.response(1)["error"]
    if error != nil {
      #expect(try await client.nextCloseCode() == CloseCode.overloaded.rawValue)
    }
    return (client, error)
  }

  @Test func `User has a limit of connections`() async throws {
    let bridge = try bridge { $0.maxUserConnections = 2 }
    let first = try await open(bridge, "ada")
    #expect(first.error == nil)
    let second = try await open(bridge, "ada")
    #expect(second.error == nil)
    let third = try await open(bridge, "ada")
    #expect(third.error?["code"] == 2503)
    #expect(third.error?["message"]?.string?.contains("2 connections") == true)
    #expect(try await open(bridge, "bob").error == nil)
    #expect(bridge.sessionServer.userQuotas.refused == (1, 0, 0))
    try await first.client.close()
    #expect(try await open(bridge, "ada").error == nil)
    withExtendedLifetime(second) {}
  }

  @Test func `User connects at its rate`() async throws {
    let bridge = try bridge {
      $0.maxUserConnections = 2
      $0.maxUserRate = 1
    }
    for _ in 0..<2 {
      let (client, error) = try await open(bridge, "ada")
      #expect(error == nil)
      try await client.close()
    }
    let third = try await open(bridge, "ada")
    #expect(third.error?["code"] == 2503)
    #expect(third.error?["data"]?["retryAfterMs"] == 1000)
    try await bridge.server.advance(by: .seconds(1))
    #expect(try await open(bridge, "ada").error == nil)
  }

  @Test func `Resuming connection counts and is accepted`() async throws {
    let bridge = try bridge { $0.maxUserConnections = 1 }
    let client = try await SequencedClient(bridge, from: Handshake(token: "ada"))
    try await client.disconnect()
    let other = try await open(bridge, "ada")
    #expect(other.error == nil)
    let result = try await client.resume(after: 0, from: Handshake(token: "ada"))
    #expect(result["resumed"] == true)
    #expect(try await open(bridge, "ada").error?["code"] == 2503)
  }

  @Test func `User has a limit of sessions, also without connections`() async throws {
    let bridge = try bridge { $0.maxUserSessions = 2 }
    for _ in 0..<2 {
      let (client, error) = try await open(bridge, "ada")
      #expect(error == nil)
      // The connection is lost, and the session waits for it.
      try await client.close(CloseCode(rawValue: 1001))
    }
    #expect(try await open(bridge, "ada").error?["code"] == 2503)
    #expect(try await open(bridge, "bob").error == nil)
    try await bridge.server.advance(by: Limits().resume + .seconds(1))
    #expect(try await open(bridge, "ada").error == nil)
    #expect(bridge.sessionServer.userQuotas.refused == (0, 0, 1))
  }

  @Test func `Clients without a user have no limit of their user`() async throws {
    let bridge = try bridge {
      $0.maxUserConnections = 1
      $0.maxUserSessions = 1
    }
    for _ in 0..<3 { #expect(try await open(bridge, nil).error == nil) }
  }

  @Test func `Reserved connection is for administrators`() async throws {
    let bridge = try bridge { _ in }
    #expect(try await open(bridge, "ada", isReserved: true).error?["code"] == 2503)
    #expect(try await open(bridge, nil, isReserved: true).error?["code"] == 2503)
    #expect(try await open(bridge, "operator", isReserved: true).error == nil)
  }

  @Test func `Guest cannot use a reserved connection`() async throws {
    let bridge = try bridge { _ in }
    let (_, opened) = try await WireClient.open(bridge, from: Handshake(token: "operator"))
    var handshake = Handshake()
    handshake.isReserved = true
    let guest = try await WireClient.connect(
      to: bridge, subprotocol: Handshake.sessionSubprotocol, from: handshake)
    try await guest.call(
      1, "session.open",
      [
        "protocol": ["1.0"],
        "join": [
          "session": opened["session"] ?? .null, "token": opened["joinToken"] ?? .null,
        ],
      ])
    #expect(try await guest.response(1)["error"]?["code"] == 2503)
    #expect(try await guest.nextCloseCode() == CloseCode.overloaded.rawValue)
  }

  @Test func `Sessions are reserved for administrators`() async throws {
    let bridge = try bridge {
      $0.maxSessions = 1
      $0.maxReserved = 1
    }
    let first = try await open(bridge, "ada")
    #expect(first.error == nil)
    #expect(try await open(bridge, "bob").error?["code"] == 2503)
    let administrator = try await open(bridge, "operator")
    #expect(administrator.error == nil)
    #expect(try await open(bridge, "operator").error?["code"] == 2503)
    withExtendedLifetime((first, administrator)) {}
  }
}
