import WayValues

/// Bytes to JSON-RPC 2.0 messages, straight from the parser's tape.
///
/// Strict about the members that JSON-RPC names; members of other names are ignored.
package struct MessageDecoder: Sendable {
  /// Most messages in one batch.
  package let maxBatch: Int
  /// Most arrays and objects within one another, the message's own among them. Above
  /// ``JSON/maxDepth`` it has no effect.
  package let maxDepth: Int
  /// About how many values one message or batch may hold: they cost more than their bytes do.
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

  /// Decodes one text frame, and gives the numbers of its messages: those of what is no JSON are
  /// absent. May be called on any thread.
  package func decode(_ bytes: RawSpan, _ numbers: inout SequenceNumbers) -> FrameContent {
    var incoming: FrameContent?
    read(bytes) { frame, found in
      numbers = found
      switch frame {
      case .request(let request): incoming = .message(request.message)
      case .other(let other): incoming = other
      case .notText(let error): incoming = .malformed(error)
      }
    }
    return incoming ?? .malformed(tooManyValues)
  }

  /// Reads one text frame, and hands on what it holds, with the numbers of its messages: those of
  /// what is no JSON are absent. Calls `body` once. May be called on any thread.
  package func read(_ bytes: RawSpan, _ body: (borrowing Frame, SequenceNumbers) -> Void) {
    var numbers = SequenceNumbers.none
    var incoming: FrameContent?
    do {
      incoming = try TapeCursor.read(bytes) { (cursor) throws(JSONError) -> FrameContent? in
        switch cursor.kind(at: TapeCursor.root) {
        case .object:
          let envelope = Envelope(cursor, at: TapeCursor.root)
          numbers = SequenceNumbers(envelope.number(cursor))
          try cursor.check(maxDepth: maxDepth)
          switch head(cursor, envelope, at: TapeCursor.root) {
          case .message(let message): return .message(message)
          case .request(let id):
            body(.request(RequestView(cursor, envelope, id, of: bytes)), numbers)
            return nil
          }
        case .list: return try batch(cursor, &numbers)
        default: return .message(.notAnObject(cursor, at: TapeCursor.root))
        }
      }
    } catch {
      let offset = error.offset.map { ["offset": .integer(Int64($0))] as ValueObject }
      let failure = CallError(
        .parseError, "the message is not JSON: \(error)", data: offset ?? ValueObject())
      // The parser may have found another fault first.
      let isText = bytes.withUnsafeBytes { JSONError.notUTF8(in: Span(_unsafeBytes: $0)) == nil }
      if !isText { return body(.notText(failure), numbers) }
      incoming = .malformed(failure)
    }
    if let incoming { body(.other(incoming), numbers) }
  }

  private func batch(
    _ cursor: TapeCursor, _ numbers: inout SequenceNumbers
  ) throws(JSONError) -> FrameContent {
    let count = cursor.count(of: TapeCursor.root)
    guard count > 0 else {
      return .malformed(CallError(.invalidRequest, "a batch needs at least one message"))
    }
    guard count <= maxBatch else {
      numbers = self.numbers(cursor)
      return .malformed(
        CallError(
          .tooLarge, "a batch has at most \(maxBatch) messages; this one has \(count)",
          data: ["limit": .integer(Int64(maxBatch))]))
    }
    guard cursor.size(of: TapeCursor.root) <= maxValues else {
      numbers = self.numbers(cursor)
      return .malformed(tooManyValues)
    }
    do {
      try cursor.check(maxDepth: maxDepth)
      return .batch(messages(cursor, count, &numbers))
    } catch {
      numbers = self.numbers(cursor)
      throw error
    }
  }

  /// The messages of a batch, with their numbers.
  private func messages(
    _ cursor: TapeCursor, _ count: Int, _ numbers: inout SequenceNumbers
  ) -> [Message] {
    var messages: [Message] = []
    messages.reserveCapacity(count)
    var at = TapeCursor.root + 1
    while messages.count < count {
      let envelope = cursor.kind(at: at) == .object ? Envelope(cursor, at: at) : nil
      let number = envelope?.number(cursor)
      if messages.isEmpty { numbers = SequenceNumbers(number) } else { numbers.follow(number) }
      if let envelope {
        messages.append(message(cursor, envelope, at: at))
      } else {
        messages.append(.notAnObject(cursor, at: at))
      }
      at = cursor.next(after: at)
    }
    return messages
  }

  /// The numbers of a batch that is refused as a whole.
  private func numbers(_ cursor: TapeCursor) -> SequenceNumbers {
    var numbers: SequenceNumbers?
    var at = TapeCursor.root + 1
    let end = cursor.end(of: TapeCursor.root)
    while at < end {
      let isObject = cursor.kind(at: at) == .object
      let number = isObject ? Envelope(cursor, at: at).number(cursor) : nil
      if numbers == nil { numbers = SequenceNumbers(number) } else { numbers?.follow(number) }
      at = cursor.next(after: at)
    }
    return numbers ?? .none
  }

  /// What a message is, before its method and params are looked at.
  private enum ClassifiedMessage {
    /// A request, or a notification where it has no id, in which nothing is wrong.
    case request(RequestID?)
    case message(Message)

    static func invalid(_ id: RequestID?, _ fault: String) -> ClassifiedMessage {
      .message(.invalid(id ?? .null, fault))
    }
  }

  private func message(_ cursor: TapeCursor, _ envelope: Envelope, at place: Int) -> Message {
    switch head(cursor, envelope, at: place) {
    case .message(let message): return message
    case .request(let id):
      let method = cursor.string(at: envelope.method)
      let params = envelope.params == 0 ? Value?.none : cursor.value(at: envelope.params)
      guard let id else { return .notification(Notification(method: method, params: params)) }
      return .request(Request(id: id, method: method, params: params))
    }
  }

  private func head(_ cursor: TapeCursor, _ envelope: Envelope, at place: Int) -> ClassifiedMessage
  {
    if envelope.method == 0, envelope.result != 0 || envelope.error != 0 {
      guard cursor.size(of: place) <= maxValues else {
        return .message(tooLargeResponse(cursor, envelope))
      }
      return .message(response(cursor, envelope))
    }

    var id: RequestID?
    if envelope.id != 0 {
      id = requestID(cursor, at: envelope.id)
      guard id != nil else { return .invalid(nil, "`id` must be a string, a number or null") }
    }
    if let id, id.size > RequestID.maxSize {
      return .invalid(nil, "`id` has at most \(RequestID.maxSize) bytes")
    }
    if let name = envelope.duplicate {
      return .invalid(
        envelope.duplicatesID ? nil : id, "`\(name)` stands in the message more than once")
    }
    guard cursor.size(of: place) <= maxValues else {
      return .message(.invalid(id ?? .null, tooManyValues))
    }
    guard isVersion2(cursor, at: envelope.jsonrpc) else {
      return .invalid(id, "`jsonrpc` must be the string \"2.0\"")
    }
    guard envelope.method != 0 else {
      return .invalid(id, "the message has no `method`, `result` or `error`")
    }
    guard cursor.kind(at: envelope.method) == .string else {
      return .invalid(id, "`method` must be a string")
    }
    guard envelope.result == 0, envelope.error == 0 else {
      return .invalid(id, "a message with `method` has no `result` or `error`")
    }
    if envelope.params != 0 {
      switch cursor.kind(at: envelope.params) {
      case .object, .list: break
      default: return .invalid(id, "`params` must be an object or an array")
      }
    }
    return .request(id)
  }

  @inline(__always)
  private func requestID(_ cursor: TapeCursor, at place: Int) -> RequestID? {
    switch cursor.kind(at: place) {
    case .string: .string(cursor.string(at: place))
    case .object, .list: nil
    default: RequestID(cursor.scalar(at: place))
    }
  }

  private func isVersion2(_ cursor: TapeCursor, at place: Int) -> Bool {
    // A missing member's place 0 holds no string.
    cursor.kind(at: place) == .string && cursor.shortName(at: place) == Envelope.version
  }

  private var tooManyValues: CallError {
    CallError(
      .tooLarge, "a message has at most \(maxValues) values, about",
      data: ["limit": .integer(Int64(maxValues))])
  }

  /// The call that it answers settles all the same.
  private func tooLargeResponse(_ cursor: TapeCursor, _ envelope: Envelope) -> Message {
    guard envelope.id != 0, !envelope.duplicatesID,
      let id = requestID(cursor, at: envelope.id)
    else { return .invalid(.null, tooManyValues) }
    return .response(Response(id: id, result: .failure(tooManyValues)))
  }

  private func response(_ cursor: TapeCursor, _ envelope: Envelope) -> Message {
    guard envelope.id != 0, !envelope.duplicatesID,
      let id = requestID(cursor, at: envelope.id)
    else {
      return .invalid(.null, "a response needs one `id`: a string, a number or null")
    }
    var fault: String?
    if let name = envelope.duplicate {
      fault = "`\(name)` stands in it more than once"
    } else if !isVersion2(cursor, at: envelope.jsonrpc) {
      fault = "its `jsonrpc` is not the string \"2.0\""
    } else if envelope.result != 0, envelope.error != 0 {
      fault = "it has both `result` and `error`"
    }
    if let fault { return .response(Response(id: id, result: .failure(.brokenResponse(fault)))) }
    if envelope.result != 0 {
      return .response(Response(id: id, result: .success(cursor.value(at: envelope.result))))
    }
    let error = CallError(member: cursor.value(at: envelope.error))
    return .response(Response(id: id, result: .failure(error)))
  }
}

extension Message {
  fileprivate static func invalid(_ id: RequestID, _ fault: String) -> Message {
    .invalid(id, CallError(.invalidRequest, fault))
  }

  fileprivate static func notAnObject(_ cursor: TapeCursor, at place: Int) -> Message {
    let kind =
      switch cursor.kind(at: place) {
      case .list: "an array"
      case .string: "a string"
      case .yes, .no: "a boolean"
      case .null: "null"
      default: "a number"
      }
    return .invalid(.null, "a message must be an object, not \(kind)")
  }
}

extension CallError {
  fileprivate static func brokenResponse(_ fault: String) -> CallError {
    CallError(.internal, "the peer's response breaks JSON-RPC: \(fault)", kind: "brokenResponse")
  }

  /// The `error` member of a response.
  fileprivate init(member: Value) {
    guard let code = member["code"]?.integer.flatMap(Int.init(exactly:)) else {
      self = .brokenResponse("its `error` has no integer `code`")
      return
    }
    guard let message = member["message"]?.string else {
      self = .brokenResponse("its `error` has no string `message`")
      return
    }
    self.init(code: code, message: message, data: member["data"])
  }
}
