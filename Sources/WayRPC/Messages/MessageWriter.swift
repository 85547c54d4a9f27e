import WayValues

/// Writes one JSON-RPC 2.0 message at a time into bytes that are used again and again.
///
/// Each method replaces the message before; ``bytes`` then holds the whole text of one frame, or of
/// one member of a batch.
package struct MessageWriter: ~Copyable, Sendable {
  /// What every message begins with; its number may follow.
  package static let head = Array("{\"jsonrpc\":\"2.0\"".utf8)

  private var json = JSONWriter()

  package init() {}

  /// Hands on the message that was written last.
  package borrowing func use(_ body: (RawSpan) -> Void) { body(json.span) }

  /// The message that was written last, to be kept.
  package var bytes: [UInt8] { json.bytes }

  /// The bytes of the message that was written last.
  package var count: Int { json.count }

  /// An answer, whichever it is.
  package mutating func answer(
    _ id: RequestID, _ result: Result<Value, CallError>, inBatch: Bool = false
  ) {
    switch result {
    case .success(let value): response(id, value, inBatch: inBatch)
    case .failure(let error): self.error(id, error, inBatch: inBatch)
    }
  }

  /// An answer. A result that cannot be encoded becomes the error ``ErrorCode/internal`` for that
  /// id. `inBatch` leaves room for the batch's own level of nesting.
  ///
  /// False where it would have more than `limit` bytes: then it is the error
  /// ``ErrorCode/tooLarge``, and the rest was not written.
  @discardableResult
  package mutating func response(
    _ id: RequestID, _ result: Value, inBatch: Bool = false, limit: Int = .max
  ) -> Bool {
    begin(id)
    json.limit = limit
    json.raw(",\"result\":")
    do {
      try json.write(result, maxDepth: Self.maxDepth(inBatch))
      return end(id, limit, inBatch)
    } catch .tooLarge {
      refuse(id, limit, inBatch)
      return false
    } catch {
      self.error(
        id,
        CallError(.internal, "the result cannot be encoded: \(error)", kind: "unencodableResult"))
      return true
    }
  }

  /// An answer whose result was written already. False where it would have more than `limit` bytes:
  /// then it is the error ``ErrorCode/tooLarge``.
  @discardableResult
  package mutating func response(
    _ id: RequestID, written text: [UInt8], inBatch: Bool = false, limit: Int = .max
  ) -> Bool {
    begin(id)
    json.raw(",\"result\":")
    text.withUnsafeBytes { json.append($0) }
    return end(id, limit, inBatch)
  }

  /// Ends an answer whose result is written; false where it is too large, and refused.
  private mutating func end(_ id: RequestID, _ limit: Int, _ inBatch: Bool) -> Bool {
    json.raw("}")
    guard json.count > limit else { return true }
    refuse(id, limit, inBatch)
    return false
  }

  private mutating func refuse(_ id: RequestID, _ limit: Int, _ inBatch: Bool) {
    let error = CallError(
      .tooLarge, "The answer has more than \(max(limit, 0)) bytes",
      data: ["limit": .integer(Int64(max(limit, 0)))])
    self.error(id, error, inBatch: inBatch)
  }

  /// An answer that tells a failure. `data` that cannot be encoded, or goes beyond `limit`, is left
  /// out. False where the message alone would go beyond it: then it is the error
  /// ``ErrorCode/tooLarge``.
  @discardableResult
  package mutating func error(
    _ id: RequestID, _ error: CallError, inBatch: Bool = false, limit: Int = .max
  ) -> Bool {
    begin(id)
    json.limit = limit
    json.raw(",\"error\":{\"code\":")
    json.write(Int64(error.code))
    json.raw(",\"message\":")
    json.write(error.message)
    guard json.count <= limit, !json.isOverLimit else {
      refuse(id, limit, inBatch)
      return false
    }
    if let data = error.data {
      let start = json.count
      json.raw(",\"data\":")
      do {
        try json.write(data, maxDepth: Self.maxDepth(inBatch) - 1)
      } catch {
        json.cut(to: start)
      }
    }
    json.raw("}}")
    return true
  }

  /// A call that wants an answer. Fails when the params nest too deep; then there is no message.
  package mutating func request(
    _ id: RequestID, _ method: String, _ params: Value? = nil
  ) throws(EncodingFailure) {
    begin(id)
    try call(method, params)
  }

  /// A call that wants none. Fails when the params nest too deep; then there is no message.
  package mutating func notification(
    _ method: String, _ params: Value? = nil
  ) throws(EncodingFailure) {
    json.reset()
    json.raw("{\"jsonrpc\":\"2.0\"")
    try call(method, params)
  }

  /// The message that was written last, with its number.
  package func numbered(_ number: UInt64) -> [UInt8] {
    Self.head + Array(",\"seq\":\(number)".utf8) + bytes[Self.head.count...]
  }

  /// `$/ack`, which has no number.
  package mutating func acknowledgement(of number: UInt64) {
    json.reset()
    json.raw("{\"jsonrpc\":\"2.0\",\"method\":\"$/ack\",\"params\":{\"seq\":")
    json.write(Int64(truncatingIfNeeded: number))
    json.raw("}}")
  }

  private mutating func call(_ method: String, _ params: Value?) throws(EncodingFailure) {
    json.raw(",\"method\":")
    json.write(method)
    if let params {
      json.raw(",\"params\":")
      do {
        try json.write(params, maxDepth: Self.maxDepth(false))
      } catch {
        json.reset()
        throw error
      }
    }
    json.raw("}")
  }

  private mutating func begin(_ id: RequestID) {
    json.reset()
    json.raw("{\"jsonrpc\":\"2.0\",\"id\":")
    switch id {
    case .null: json.raw("null")
    case .integer(let integer): json.write(integer)
    case .number(let digits): json.raw(verbatim: digits)
    case .string(let text): json.write(text)
    }
  }

  private static func maxDepth(_ inBatch: Bool) -> Int { JSON.maxDepth - (inBatch ? 2 : 1) }
}
