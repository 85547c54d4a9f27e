import TestSupport
import WaySession
import WayTransport
import WayValues

/// A client that numbers its messages.
actor SequencedClient {
  private(set) var bridge: InMemoryBridge
  private(set) var wire: WireClient
  private(set) var openResult: Value
  private(set) var lastSequence: Int64 = 0

  init(
    _ bridge: InMemoryBridge, _ members: ValueObject = [:], joining: Value? = nil,
    from handshake: Handshake = Handshake()
  ) async throws {
    self.bridge = bridge
    (wire, openResult) = try await WireClient.open(
      bridge, members, joining: joining, from: handshake)
  }

  func call(_ id: Value, _ method: String, _ params: Value) async throws {
    try await send(["id": id, "method": .string(method), "params": params])
  }

  /// Responds to a request of the server.
  func respond(_ request: Value, _ result: Value) async throws {
    try await send(["id": request["id"] ?? .null, "result": result])
  }

  func notify(_ method: String, _ params: Value) async throws {
    try await send(["method": .string(method), "params": params])
  }

  /// Rejects a request of the server.
  func fail(_ request: Value, _ code: Int64) async throws {
    try await send([
      "id": request["id"] ?? .null, "error": ["code": .integer(code), "message": "no"],
    ])
  }

  private func send(_ members: ValueObject) async throws {
    lastSequence += 1
    var message: ValueObject = ["jsonrpc": "2.0", "seq": .integer(lastSequence)]
    message.merge(members)
    try await wire.send(.object(message))
  }

  func batch(_ messages: [ValueObject]) async throws {
    try await wire.send(
      .array(
        messages.map { members in
          lastSequence += 1
          var message: ValueObject = ["jsonrpc": "2.0", "seq": .integer(lastSequence)]
          message.merge(members)
          return .object(message)
        }))
  }

  func acknowledge(_ number: Int64) async throws {
    try await wire.send([
      "jsonrpc": "2.0", "method": "$/ack", "params": ["seq": .integer(number)],
    ])
  }

  func disconnect() async throws {
    try await wire.close(CloseCode(rawValue: 1001))
    await bridge.server.loop.settle()
  }

  /// Resumes the session and returns the result.
  func resume(
    after received: Int64, from handshake: Handshake = Handshake(), reloaded: Bool = false,
    at bridge: InMemoryBridge? = nil
  ) async throws -> Value {
    if let bridge { self.bridge = bridge }
    wire = try await WireClient.connect(
      to: self.bridge, subprotocol: Handshake.sessionSubprotocol, from: handshake)
    var params: ValueObject = [
      "client": openResult["client"] ?? .null, "token": openResult["token"] ?? .null,
      "epoch": openResult["epoch"] ?? .null, "received": .integer(received),
    ]
    if reloaded { params["reloaded"] = true } else { params["sent"] = .integer(lastSequence) }
    try await wire.call("again", "session.resume", .object(params))
    let response = try await wire.response("again")
    guard let result = response["result"] else { return response["error"] ?? .null }
    if result["resumed"] == true { openResult = result }
    return result
  }

  /// Continues with the numbers after `number`, as if later messages had not been sent.
  func resetSequence(after number: Int64) { lastSequence = number }
}
