import TestSupport
import Testing
import WayRouting
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

  @Test func theTokenOfANewSessionTellsItsUser() async throws {
    _ = try await WireClient.open(bridge, ["token": "anna"])
    #expect(await bridge.hub.allServers.sessions(.all).map(\.identity.user) == ["anna"])
  }

  @Test func aRefusedTokenIs2401AndAnotherMayFollow() async throws {
    let client = try await WireClient.connect(to: bridge, subprotocol: LoopSessions.subprotocol)
    try await client.call(1, "session.open", [:])
    let refusal = try await client.answer(1)["error"]
    #expect(refusal?["code"] == 2401)
    #expect(refusal?["message"]?.string?.contains("a token is needed") == true)
    #expect(await bridge.hub.census().sessions == 0)
    try await client.call(2, "session.open", ["token": "anna"])
    #expect(try await client.answer(2)["result"]?["session"] != nil)
  }

  @Test func whoJoinsNeedsTheJoinTokenAlone() async throws {
    let (_, hello) = try await WireClient.open(bridge, ["token": "anna"])
    let (_, joined) = try await WireClient.open(bridge, joining: hello)
    #expect(joined["session"] == hello["session"])
  }

  @Test func aPlainConnectionIsClosedWhereATokenIsNeeded() async throws {
    let peer = try await Peer.connect(to: bridge.server, subprotocol: nil)
    try await peer.send(["jsonrpc": "2.0", "id": 1, "method": "$/ping"])
    guard case .closed(let code) = try await peer.next() else {
      return #expect(Bool(false), "it was answered")
    }
    #expect(code == 4001)
    #expect(await bridge.hub.census().sessions == 0)
  }

  @Test func whatAClientCallsItselfIsBounded() async throws {
    let client = try await WireClient.connect(to: bridge, subprotocol: LoopSessions.subprotocol)
    for (id, length) in [(1, 257), (2, 256)] as [(Value, Int)] {
      let name = Value.string(String(repeating: "x", count: length))
      try await client.call(id, "session.open", ["token": "anna", "client": ["name": name]])
      #expect(try await client.answer(id)["error"]?["code"] == (length > 256 ? -32602 : nil))
    }
  }
}
