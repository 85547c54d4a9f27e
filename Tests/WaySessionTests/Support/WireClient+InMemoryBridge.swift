import TestSupport
import WayTransport
import WayValues

// Clients of a bridge in memory.
extension WireClient {
  static func connect(
    to bridge: InMemoryBridge, subprotocol: String? = nil, from handshake: Handshake = Handshake()
  ) async throws -> WireClient {
    try await connect(to: bridge.server.from(handshake), subprotocol: subprotocol)
  }

  /// A plain client that shows the pages of these schemes.
  static func connect(
    to bridge: InMemoryBridge, hosting schemes: [String]
  ) async throws -> WireClient {
    let client = try await connect(to: bridge)
    guard !schemes.isEmpty else { return client }
    try await client.call(
      "host", "host.register",
      ["hosts": .list(schemes.map { ["scheme": .string($0), "kind": "page"] })])
    _ = try await client.answer("host")
    return client
  }

  /// A client with a session: a new one, or that of `joining`, the answer that another got.
  static func open(
    _ bridge: InMemoryBridge, _ members: ValueObject = [:], joining: Value? = nil,
    from handshake: Handshake = Handshake()
  ) async throws -> (client: WireClient, hello: Value) {
    try await open(on: bridge.server.from(handshake), members, joining: joining)
  }
}
