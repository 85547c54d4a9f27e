import TestSupport
import Testing
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// Clients that ask for a session that no server has, and whose identity takes a while.
@Suite(.timeLimit(.minutes(1)))
struct ClusterAdmissionTests {
  private let proceed = Mailbox<Bool>()
  private let identifiedCount = Locked(0)
  private let bridge: InMemoryBridge

  init() async throws {
    bridge = InMemoryBridge(
      Router(),
      identify: { [proceed, identifiedCount] _ in
        _ = try await proceed.receive()
        identifiedCount.withLock { $0 += 1 }
        return Identity(user: "anna")
      }, cluster: Cluster(StubClusterEngine()))
    try await bridge.sessionServer.dispatch.restore()
  }

  private func resumingClient() async throws -> WireClient {
    let client = try await WireClient.connect(to: bridge, subprotocol: Handshake.sessionSubprotocol)
    try await client.call(
      "resume", "session.resume",
      [
        "client": "s-gone.1", "token": "t", "epoch": "e", "received": 0,
        "open": ["protocol": ["1.0"], "token": "anna"],
      ])
    return client
  }

  @Test func messagesWaitUntilTheClientIsAdmitted() async throws {
    let client = try await resumingClient()
    try await client.call("ping", "$/ping", [:])
    await bridge.server.loop.settle()
    proceed.put(true)
    proceed.put(true)
    #expect(try await client.response("resume")["result"]?["reason"] == "unknown")
    #expect(try await client.response("ping")["error"] == nil)
  }

  @Test func clientThatLeavesMeanwhileGetsNoSession() async throws {
    let client = try await resumingClient()
    await bridge.server.loop.settle()
    try await client.close()
    await bridge.server.loop.settle()
    proceed.put(true)
    while identifiedCount.withLock({ $0 }) < 1 { await Task.yield() }
    await bridge.server.loop.settle()
    #expect(await bridge.sessionServer.totals() == SessionTotals())
  }
}
