import TestSupport
import WayRPC
import WaySession
import WayValues

/// A plain client that sends calls and awaits what comes, message by message.
struct TestClient {
  private let peer: Peer

  static func connect(
    to bridge: TestBridge, subprotocol: String? = nil
  ) async throws -> TestClient {
    TestClient(peer: try await Peer.connect(to: bridge.server, subprotocol: subprotocol))
  }

  func close() async throws {
    try await peer.close()
  }

  func call(_ id: Value, _ method: String, _ params: Value) async throws {
    try await peer.send(
      ["jsonrpc": "2.0", "id": id, "method": .string(method), "params": params])
  }

  func notify(_ method: String, _ params: Value) async throws {
    try await peer.send(["jsonrpc": "2.0", "method": .string(method), "params": params])
  }

  func batch(_ messages: [Value]) async throws {
    try await peer.send(.list(messages))
  }

  /// Answers a request of the server.
  func reply(_ request: Value, _ result: Value) async throws {
    try await peer.send(["jsonrpc": "2.0", "id": request["id"] ?? .null, "result": result])
  }

  /// Answers a request of the server with an error.
  func refuse(_ request: Value, code: Int64, _ message: String) async throws {
    try await peer.send(
      [
        "jsonrpc": "2.0", "id": request["id"] ?? .null,
        "error": ["code": .integer(code), "message": .string(message)],
      ])
  }

  /// The next message.
  func message() async throws -> Value {
    guard case .text(let bytes) = try await peer.next() else {
      throw TranscriptFailure(description: "the connection closed")
    }
    return try JSON.parse(bytes.span.bytes)
  }

  /// The next answer to the call `id`; others that come before it are passed over.
  func answer(_ id: Value) async throws -> Value {
    while true {
      let message = try await message()
      if message["id"] == id, message["method"] == nil { return message }
    }
  }

  /// The next request or notification of the server by this method; others that come before it are passed over.
  func request(_ method: String) async throws -> Value {
    while true {
      let message = try await message()
      if message["method"]?.string == method { return message }
    }
  }
}
