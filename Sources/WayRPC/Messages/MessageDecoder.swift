import WayValues

/// Decodes JSON-RPC 2.0 messages directly from the parser's tape.
///
/// Strict about the members that JSON-RPC names; members with other names are ignored.
package struct MessageDecoder: Sendable {
  /// The maximum number of messages in one batch.
  package let maxBatch: Int
  /// The maximum nesting of arrays and objects, including the message itself. Above
  /// ``JSON/maxDepth`` it has no effect.
  package let maxDepth: Int
  /// The approximate maximum number of values in one message or batch, which cost more than their
  /// bytes.
  package let maxValues: Int

  package init(
    maxBatch: Int = 100, maxDepth: Int = JSON.maxDepth, maxValues: Int = .max
  ) {
    self.maxBatch = maxBatch
    self.maxDepth = maxDepth
    self.maxValues = maxValues
  }

  /// Decodes one text frame. May be called on any thread.
  package func decode(_ bytes: RawSpan) -> FrameContent {
    var numbers = SequenceNumbers.none
    return decode(bytes, &numbers)
  }

  /// Decodes one text frame, and returns the numbers of its messages; they are absent if the frame
  /// is no JSON. May be called on any thread.
  package func decode(_ bytes: RawSpan, _ numbers: inout SequenceNumbers) -> FrameContent {
    var content: FrameContent?
    read(bytes) { frame, found in
      numbers = found
      switch frame {
      case .request(let request): content = .message(request.message)
      case .decoded(let other): content = other
      case .invalidUTF8(let error): content = .malformed(error)
      }
    }
    return content ?? .malformed(tooManyValues)
  }

  /// Reads one text frame, and passes its content to `body`, with the numbers of its messages; they
  /// are absent if the frame is no JSON. Calls `body` once. May be called on any thread.
  package func read(_ bytes: RawSpan, _ body: (borrowing FrameView, SequenceNumbers) -> Void) {
    var numbers = SequenceNumbers.none
    var content: FrameContent?
    do {
      content = try JSONTapeCursor.read(bytes) { (cursor) throws(JSONError) -> FrameContent? in
        switch cursor.kind(at: JSONTapeCursor.root) {
        case .object:
          let envelope = Envelope(cursor, at: JSONTapeCursor.root)
          numbers = SequenceNumbers(envelope.sequenceNumber(cursor))
          try cursor.check(maxDepth: maxDepth)
          switch classify(cursor, envelope, at: JSONTapeCursor.root) {
          case .message(let message): return .message(message)
          case .request(let id):
            body(.request(RPCRequestView(cursor, envelope, id, of: bytes)), numbers)
            return nil
          }
        case .array: return try batch(cursor, &numbers)
        default: return .message(.notAnObject(cursor, at: JSONTapeCursor.root))
        }
      }
    } catch {
      let offset = error.offset.map { ["offset": .integer(Int64($0))] as ValueObject }
      let failure = CallError(
        .parseError, "the message is not JSON: \(error)", data: offset ?? ValueObject())
      // The parser may have reported another fault first.
      let isText = bytes.withUnsafeBytes {
        JSONError.firstInvalidUTF8(in: Span(_unsafeBytes: $0)) == nil
      }
      if !isText { return body(.invalidUTF8(failure), numbers) }
      let recovered = RecoveredRPCEnvelope.content(of: bytes, limit: maxBatch, failure)
      (content, numbers) = (recovered.content, recovered.numbers)
    }
    if let content { body(.decoded(content), numbers) }
  }

  private func batch(
    _ cursor: JSONTapeCursor, _ numbers: inout SequenceNumbers
  ) throws(JSONError) -> FrameContent {
    let count = cursor.count(of: JSONTapeCursor.root)
    guard count > 0 else {
      return .malformed(CallError(.invalidRequest, "a batch needs at least one message"))
    }
    guard count <= maxBatch else {
      numbers = self.sequenceNumbers(cursor)
      return .malformed(
        CallError(
          .tooLarge, "a batch may have at most \(maxBatch) messages; this one has \(count)",
          data: ["limit": .integer(Int64(maxBatch))]))
    }
    guard cursor.size(of: JSONTapeCursor.root) <= maxValues else {
      numbers = self.sequenceNumbers(cursor)
      return .malformed(tooManyValues)
    }
    do {
      try cursor.check(maxDepth: maxDepth)
      return .batch(messages(cursor, count, &numbers))
    } catch {
      numbers = self.sequenceNumbers(cursor)
      throw error
    }
  }

  /// Returns the messages of a batch, with their numbers.
  private func messages(
    _ cursor: JSONTapeCursor, _ count: Int, _ numbers: inout SequenceNumbers
  ) -> [Message] {
    var messages: [Message] = []
    messages.reserveCapacity(count)
    var at = JSONTapeCursor.root + 1
    while messages.count < count {
      let envelope = cursor.kind(at: at) == .object ? Envelope(cursor, at: at) : nil
      let number = envelope?.sequenceNumber(cursor)
      if messages.isEmpty { numbers = SequenceNumbers(number) } else { numbers.append(number) }
      if let envelope {
        messages.append(message(cursor, envelope, at: at))
      } else {
        messages.append(.notAnObject(cursor, at: at))
      }
      at = cursor.next(after: at)
    }
    return messages
  }

  /// Returns the numbers of a batch that is rejected as a whole.
  private func sequenceNumbers(_ cursor: JSONTapeCursor) -> SequenceNumbers {
    var numbers: SequenceNumbers?
    var at = JSONTapeCursor.root + 1
    let end = cursor.end(of: JSONTapeCursor.root)
    while at < end {
      let isObject = cursor.kind(at: at) == .object
      let number = isObject ? Envelope(cursor, at: at).sequenceNumber(cursor) : nil
      if numbers == nil { numbers = SequenceNumbers(number) } else { numbers?.append(number) }
      at = cursor.next(after: at)
    }
    return numbers ?? .none
  }

  /// The kind of a message, before its method and params are read.
  private enum ClassifiedMessage {
    /// A valid request, or a notification if it has no id.
    case request(RequestID?)
    case message(Message)

    static func invalid(_ id: RequestID?, _ problem: String) -> ClassifiedMessage {
      .message(.invalid(id ?? .null, problem))
    }
  }

  private func message(_ cursor: JSONTapeCursor, _ envelope: Envelope, at index: Int) -> Message {
    switch classify(cursor, envelope, at: index) {
    case .message(let message): return message
    case .request(let id):
      let method = cursor.string(at: envelope.method)
      let params = RPCParamsView.value(cursor, at: envelope.params)
      guard let id else { return .notification(Notification(method: method, params: params)) }
      return .request(Request(id: id, method: method, params: params))
    }
  }

  private func classify(_ cursor: JSONTapeCursor, _ envelope: Envelope, at index: Int)
    -> ClassifiedMessage
  {
    if envelope.method == 0, envelope.result != 0 || envelope.error != 0 {
      let failure = cursor.size(of: index) <= maxValues ? nil : tooManyValues
      if let response = Response(cursor, envelope, failure: failure) {
        return .message(.response(response))
      }
      let problem = "a response needs one `id`: a string, a number or null"
      return .message(.invalid(.null, failure ?? CallError(.invalidRequest, problem)))
    }

    var id: RequestID?
    if envelope.id != 0 {
      id = envelope.requestID(cursor)
      guard id != nil else { return .invalid(nil, "`id` must be a string, a number or null") }
    }
    if let id, id.size > RequestID.maxSize {
      return .invalid(nil, "`id` has at most \(RequestID.maxSize) bytes")
    }
    if let name = envelope.duplicateName {
      return .invalid(
        envelope.hasDuplicateID ? nil : id, "`\(name)` occurs more than once in the message")
    }
    guard cursor.size(of: index) <= maxValues else {
      return .message(.invalid(id ?? .null, tooManyValues))
    }
    guard envelope.isVersion2(cursor) else {
      return .invalid(id, "`jsonrpc` must be the string \"2.0\"")
    }
    guard envelope.method != 0 else {
      return .invalid(id, "the message has no `method`, `result` or `error`")
    }
    guard cursor.kind(at: envelope.method) == .string else {
      return .invalid(id, "`method` must be a string")
    }
    guard envelope.result == 0, envelope.error == 0 else {
      return .invalid(id, "a message with `method` must not have `result` or `error`")
    }
    if envelope.params != 0 {
      switch cursor.kind(at: envelope.params) {
      case .object, .array, .null: break
      default: return .invalid(id, "`params` must be an object or an array")
      }
    }
    return .request(id)
  }

  private var tooManyValues: CallError {
    CallError(
      .tooLarge, "a message may have about \(maxValues) values at most",
      data: ["limit": .integer(Int64(maxValues))])
  }
}

extension Message {
  fileprivate static func invalid(_ id: RequestID, _ problem: String) -> Message {
    .invalid(id, CallError(.invalidRequest, problem))
  }

  fileprivate static func notAnObject(_ cursor: JSONTapeCursor, at index: Int) -> Message {
    let kind =
      switch cursor.kind(at: index) {
      case .array: "an array"
      case .string: "a string"
      case .trueLiteral, .falseLiteral: "a boolean"
      case .null: "null"
      default: "a number"
      }
    return .invalid(.null, "a message must be an object, not \(kind)")
  }
}
