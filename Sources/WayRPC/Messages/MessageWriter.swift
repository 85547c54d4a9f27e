import WayValues

/// Writes one JSON-RPC 2.0 message at a time into a buffer that is reused.
///
/// Each method replaces the previous message; ``bytes`` then holds the whole text of one frame, or
/// of one member of a batch.
package struct MessageWriter: ~Copyable, Sendable {
  /// The beginning of every message; its number may follow.
  package static let messagePrefix = Array("{\"jsonrpc\":\"2.0\"".utf8)

  private var json = JSONWriter()

  package init() {}

  /// Passes the last message to `body`.
  package borrowing func withBytes(_ body: (RawSpan) -> Void) { body(json.span) }

  /// A copy of the last message.
  package var bytes: [UInt8] { json.bytes }

  /// The number of bytes of the last message.
  package var count: Int { json.count }

  /// Writes a response with a result or an error.
  package mutating func writeResult(
    _ id: RequestID, _ result: Result<Value, CallError>, inBatch: Bool = false
  ) {
    switch result {
    case .success(let value): writeResponse(id, value, inBatch: inBatch)
    case .failure(let error): self.writeError(id, error, inBatch: inBatch)
    }
  }

  /// Writes a response with a result. If the result cannot be encoded, the response is the error
  /// ``ErrorCode/internal`` for that id. `inBatch` leaves room for the batch's own level of
  /// nesting.
  ///
  /// Returns `false` if the response would exceed `limit` bytes. Then it is the error
  /// ``ErrorCode/tooLarge``, and the rest was not written.
  @discardableResult
  package mutating func writeResponse(
    _ id: RequestID, _ result: Value, inBatch: Bool = false, limit: Int = .max
  ) -> Bool {
    begin(id)
    json.limit = limit
    json.appendRaw(",\"result\":")
    do {
      try json.write(result, maxDepth: Self.maxDepth(inBatch))
      return end(id, limit, inBatch)
    } catch .tooLarge {
      writeTooLargeError(id, limit, inBatch)
      return false
    } catch {
      self.writeError(
        id,
        CallError(.internal, "the result cannot be encoded: \(error)", kind: "unencodableResult"))
      return true
    }
  }

  /// Writes a response with a result that is encoded already. Returns `false` if it would exceed
  /// `limit` bytes; then it is the error ``ErrorCode/tooLarge``.
  @discardableResult
  package mutating func writeResponse(
    _ id: RequestID, written text: [UInt8], inBatch: Bool = false, limit: Int = .max
  ) -> Bool {
    begin(id)
    json.appendRaw(",\"result\":")
    text.withUnsafeBytes { json.append($0) }
    return end(id, limit, inBatch)
  }

  /// Ends a response whose result is written; returns `false` if it is too large, and replaced by
  /// an error.
  private mutating func end(_ id: RequestID, _ limit: Int, _ inBatch: Bool) -> Bool {
    json.appendRaw("}")
    guard json.count > limit else { return true }
    writeTooLargeError(id, limit, inBatch)
    return false
  }

  private mutating func writeTooLargeError(_ id: RequestID, _ limit: Int, _ inBatch: Bool) {
    let error = CallError(
      .tooLarge, "The response has more than \(max(limit, 0)) bytes",
      data: ["limit": .integer(Int64(max(limit, 0)))])
    self.writeError(id, error, inBatch: inBatch)
  }

  /// Writes a response with an error. `data` that cannot be encoded, or exceeds `limit`, is left
  /// out. Returns `false` if the message alone would exceed it; then it is the error
  /// ``ErrorCode/tooLarge``.
  @discardableResult
  package mutating func writeError(
    _ id: RequestID, _ error: CallError, inBatch: Bool = false, limit: Int = .max
  ) -> Bool {
    begin(id)
    json.limit = limit
    json.appendRaw(",\"error\":{\"code\":")
    json.write(Int64(error.code))
    json.appendRaw(",\"message\":")
    json.write(error.message)
    guard json.count <= limit, !json.isOverLimit else {
      writeTooLargeError(id, limit, inBatch)
      return false
    }
    if let data = error.data {
      let start = json.count
      json.appendRaw(",\"data\":")
      do {
        try json.write(data, maxDepth: Self.maxDepth(inBatch) - 1)
      } catch {
        json.truncate(to: start)
      }
    }
    json.appendRaw("}}")
    return true
  }

  /// Writes a call that expects a response. Fails if the params nest too deep; then there is no
  /// message.
  package mutating func writeRequest(
    _ id: RequestID, _ method: String, _ params: Value? = nil
  ) throws(EncodingFailure) {
    begin(id)
    try writeMethod(method, params)
  }

  /// Writes a call that expects no response. Fails if the params nest too deep; then there is no
  /// message.
  package mutating func writeNotification(
    _ method: String, _ params: Value? = nil
  ) throws(EncodingFailure) {
    json.reset()
    json.appendRaw("{\"jsonrpc\":\"2.0\"")
    try writeMethod(method, params)
  }

  /// Returns the last message, with its number.
  package func numbered(_ number: UInt64) -> [UInt8] {
    Self.messagePrefix + Array(",\"seq\":\(number)".utf8) + bytes[Self.messagePrefix.count...]
  }

  /// Writes `$/ack`, which has no number.
  package mutating func writeAcknowledgement(of number: UInt64) {
    json.reset()
    json.appendRaw("{\"jsonrpc\":\"2.0\",\"method\":\"$/ack\",\"params\":{\"seq\":")
    json.write(Int64(truncatingIfNeeded: number))
    json.appendRaw("}}")
  }

  private mutating func writeMethod(_ method: String, _ params: Value?) throws(EncodingFailure) {
    json.appendRaw(",\"method\":")
    json.write(method)
    if let params {
      json.appendRaw(",\"params\":")
      do {
        try json.write(params, maxDepth: Self.maxDepth(false))
      } catch {
        json.reset()
        throw error
      }
    }
    json.appendRaw("}")
  }

  private mutating func begin(_ id: RequestID) {
    json.reset()
    json.appendRaw("{\"jsonrpc\":\"2.0\",\"id\":")
    switch id {
    case .null: json.appendRaw("null")
    case .integer(let integer): json.write(integer)
    case .number(let digits): json.appendRaw(verbatim: digits)
    case .string(let text): json.write(text)
    }
  }

  private static func maxDepth(_ inBatch: Bool) -> Int { JSON.maxDepth - (inBatch ? 2 : 1) }
}
