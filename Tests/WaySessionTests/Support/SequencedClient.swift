import TestSupport
import WaySession
import WayTransport
import WayValues

/// A client that numbers what it sends.
actor SequencedClient {
  private(set) var bridge: InMemoryBridge
  private(set) var wire: WireClient
  private(set) var hello: Value
  private(set) var sent: Int64 = 0

  init(_ bridge: InMemoryBridge, _ members: ValueObject = [:], joining: Value? = nil) async throws {
    self.bridge = bridge
    (wire, hello) = try await WireClient.open(bridge, members, joining: joining)
  }

  func call(_ id: Value, _ method: String, _ params: Value) async throws {
    try await send(["id": id, "method": .string(method), "params": params])
  }

  /// Answers a request of the server.
  func reply(_ request: Value, _ result: Value) async throws {
    try await send(["id": request["id"] ?? .null, "result": result])
  }

  private func send(_ members: ValueObject) async throws {
    sent += 1
    var message: ValueObject = ["jsonrpc": "2.0", "seq": .integer(sent)]
    message.merge(members)
    try await wire.send(.object(message))
  }

  func batch(_ messages: [ValueObject]) async throws {
    try await wire.send(
      .list(
        messages.map { members in
          sent += 1
          var message: ValueObject = ["jsonrpc": "2.0", "seq": .integer(sent)]
          message.merge(members)
          return .object(message)
        }))
  }

  func acknowledge(_ number: Int64) async throws {
    try await wire.send([
      "jsonrpc": "2.0", "method": "$/ack", "params": ["seq": .integer(number)],
    ])
  }

  func lose() async throws {
    try await wire.close(CloseCode(rawValue: 1001))
    await bridge.server.loop.settle()
  }

  /// Resumes, and gives the answer.
  func resume(
    after received: Int64, from handshake: Handshake = Handshake(), reloaded: Bool = false,
    at bridge: InMemoryBridge? = nil
  ) async throws -> Value {
    if let bridge { self.bridge = bridge }
    wire = try await WireClient.connect(
      to: self.bridge, subprotocol: LoopSessions.subprotocol, from: handshake)
    var params: ValueObject = [
      "client": hello["client"] ?? .null, "token": hello["token"] ?? .null,
      "epoch": hello["epoch"] ?? .null, "received": .integer(received),
    ]
    if reloaded { params["reloaded"] = true } else { params["sent"] = .integer(sent) }
    try await wire.call("again", "session.resume", .object(params))
    let answer = try await wire.answer("again")
    guard let result = answer["result"] else { return answer["error"] ?? .null }
    if result["resumed"] == true { hello = result }
    return result
  }

  /// Goes on with the numbers after one, as if what came after it had not been sent.
  func forgetSent(after number: Int64) { sent = number }
}
