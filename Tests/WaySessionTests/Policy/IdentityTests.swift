import TestSupport
import Testing
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

@Suite(.timeLimit(.minutes(1)))
struct IdentityTests {
  private let bridge = InMemoryBridge(
    Router(),
    identify: { handshake in
      guard let token = handshake.token else {
        throw CallError(code: 1, message: "a token is needed")
      }
      return Identity(user: token)
    })

  @Test func tokenSetsUserOfNewSession() async throws {
    _ = try await WireClient.open(bridge, ["token": "anna"])
    #expect(
      await bridge.sessionServer.dispatch.sessions(.all).map(\.identity.user) == ["anna"])
  }

  @Test func acceptsSecondTokenAfterRejection() async throws {
    let client = try await WireClient.connect(to: bridge, subprotocol: Handshake.sessionSubprotocol)
    try await client.call(1, "session.open", [:])
    let rejection = try await client.response(1)["error"]
    #expect(rejection?["code"] == 2401)
    #expect(rejection?["message"]?.string?.contains("a token is needed") == true)
    #expect(await bridge.sessionServer.totals().sessions == 0)
    try await client.call(2, "session.open", ["token": "anna"])
    #expect(try await client.response(2)["result"]?["session"] != nil)
  }

  @Test func joiningRequiresOnlyJoinToken() async throws {
    let (_, opened) = try await WireClient.open(bridge, ["token": "anna"])
    let (_, joined) = try await WireClient.open(bridge, joining: opened)
    #expect(joined["session"] == opened["session"])
  }

  @Test func closesPlainConnectionWithoutToken() async throws {
    let peer = try await RawClient.connect(to: bridge.server, subprotocol: nil)
    try await peer.send(["jsonrpc": "2.0", "id": 1, "method": "$/ping"])
    guard case .closed(let code) = try await peer.next() else {
      return #expect(Bool(false), "it got a response")
    }
    #expect(code == 4001)
    #expect(await bridge.sessionServer.totals().sessions == 0)
  }

  @Test func limitsClientNameLength() async throws {
    let client = try await WireClient.connect(to: bridge, subprotocol: Handshake.sessionSubprotocol)
    for (id, length) in [(1, 257), (2, 256)] as [(Value, Int)] {
      let name = Value.string(String(repeating: "x", count: length))
      try await client.call(id, "session.open", ["token": "anna", "client": ["name": name]])
      #expect(try await client.response(id)["error"]?["code"] == (length > 256 ? -32602 : nil))
    }
  }
}
