import TestSupport
import WayTransport
import WayValues

// Clients of a bridge in memory.
extension WireClient {
  static func connect(
    to bridge: InMemoryBridge, subprotocol: String? = nil, from handshake: Handshake = Handshake()
  ) async throws -> WireClient {
    try await connect(to: bridge.server.withHandshake(handshake), subprotocol: subprotocol)
  }

  /// Connects a plain client that hosts the pages of these schemes.
  static func connect(
    to bridge: InMemoryBridge, hosting schemes: [String]
  ) async throws -> WireClient {
    let client = try await connect(to: bridge)
    guard !schemes.isEmpty else { return client }
    try await client.call(
      "host", "host.register",
      ["hosts": .array(schemes.map { ["scheme": .string($0), "kind": "page"] })])
    _ = try await client.response("host")
    return client
  }

  /// Connects and opens a session: a new one, or that of `joining`, another client's result of
  /// `session.open`.
  static func open(
    _ bridge: InMemoryBridge, _ members: ValueObject = [:], joining: Value? = nil,
    from handshake: Handshake = Handshake()
  ) async throws -> (client: WireClient, opened: Value) {
    try await open(on: bridge.server.withHandshake(handshake), members, joining: joining)
  }
}
