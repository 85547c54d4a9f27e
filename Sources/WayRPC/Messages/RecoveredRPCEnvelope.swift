import WayValues

/// The envelope of a message that is not JSON, as far as it can be read, so that its call still
/// completes. Strings may hold any bytes, numbers any word, and nesting is not limited.
struct RecoveredRPCEnvelope: Equatable {
  private var id: RequestID?
  /// The number of the message; `nil` if there is none, or it cannot be read.
  private var sequenceNumber: UInt64?
  private var hasMethod = false
  private var hasResult = false

  /// The id, if the message is a response.
  private var responseID: RequestID? { hasResult && !hasMethod ? id : nil }

  /// Returns the content of a text that is not JSON, with the numbers of its messages: its responses
  /// that can be recovered, which fail with `failure` so that their calls complete. The text as a
  /// whole gets this error once, with the id null (JSON-RPC 2.0 §5).
  static func content(
    of text: RawSpan, limit: Int, _ failure: CallError
  ) -> (content: FrameContent, numbers: SequenceNumbers) {
    guard let (envelopes, isBatch) = recover(from: text, limit: limit),
      let first = envelopes.first
    else { return (.malformed(failure), .none) }
    var numbers = SequenceNumbers(first.sequenceNumber)
    for envelope in envelopes.dropFirst() { numbers.append(envelope.sequenceNumber) }
    // The error names the number, so that its sender knows which message it is about.
    let failure = failure.adding(seq: numbers.first)
    let responses = envelopes.compactMap(\.responseID).map { id in
      Message.response(Response(id: id.comparedByValue, result: .failure(failure)))
    }
    guard let response = responses.first else { return (.malformed(failure), numbers) }
    return (isBatch ? .batch(responses) : .message(response), numbers)
  }

  /// Recovers the messages of a text: one, or those of a batch. Returns `nil` if the text is
  /// neither, if a batch has more messages than `limit`, or if it ends within a batch.
  private static func recover(
    from text: RawSpan, limit: Int
  ) -> (messages: [RecoveredRPCEnvelope], isBatch: Bool)? {
    text.withUnsafeBytes { bytes in
      var scanner = EnvelopeScanner(bytes)
      switch scanner.skipSpace() {
      case UInt8(ascii: "{"): return ([scanner.readEnvelope()], false)
      case UInt8(ascii: "["): return scanner.readBatch(limit: limit).map { ($0, true) }
      default: return nil
      }
    }
  }

  /// Reads the members of one message. `value` is the text of a member's value.
  fileprivate mutating func read(_ name: Slice<UnsafeRawBufferPointer>, _ value: [UInt8]) {
    switch String(decoding: name, as: UTF8.self) {
    case "method": hasMethod = true
    case "result", "error": hasResult = true
    case "id":
      id = (try? JSON.parse(value.span.bytes)).flatMap(RequestID.init)
      if let id, id.size > RequestID.maxSize { self.id = nil }
    case "seq":
      let number = (try? JSON.parse(value.span.bytes))?.exactInteger
      sequenceNumber = number.flatMap { $0 > 0 ? UInt64($0) : nil }
    default: break
    }
  }
}

/// Finds the ends of names and values by quotation marks and brackets alone.
private struct EnvelopeScanner {
  private var rest: Slice<UnsafeRawBufferPointer>

  init(_ bytes: UnsafeRawBufferPointer) { rest = bytes[...] }

  /// Skips white space, and returns the next byte without reading it.
  mutating func skipSpace() -> UInt8? {
    rest = rest.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
    return rest.first
  }

  /// Reads a byte if it is the next one after white space.
  private mutating func accept(_ byte: Character) -> Bool {
    guard skipSpace() == byte.asciiValue else { return false }
    rest.removeFirst()
    return true
  }

  /// Reads an object as far as it has members.
  mutating func readEnvelope() -> RecoveredRPCEnvelope {
    var envelope = RecoveredRPCEnvelope()
    guard accept("{") else { return envelope }
    repeat {
      guard skipSpace() == UInt8(ascii: "\"") else { break }
      let name = skipString()
      guard accept(":"), skipSpace() != nil else { break }
      let start = rest.startIndex
      skipValue()
      let value = Slice(base: rest.base, bounds: start..<rest.startIndex)
      // Only short values matter, which are copied.
      envelope.read(
        name.dropFirst().dropLast(), value.count <= 2 * RequestID.maxSize ? Array(value) : [])
    } while accept(",")
    _ = accept("}")
    return envelope
  }

  mutating func readBatch(limit: Int) -> [RecoveredRPCEnvelope]? {
    guard accept("[") else { return nil }
    var messages: [RecoveredRPCEnvelope] = []
    repeat {
      guard messages.count < limit, skipSpace() == UInt8(ascii: "{") else { return nil }
      messages.append(readEnvelope())
    } while accept(",")
    return accept("]") ? messages : nil
  }

  /// Skips a string, and returns it with its quotation marks.
  private mutating func skipString() -> Slice<UnsafeRawBufferPointer> {
    let start = rest.startIndex
    rest.removeFirst()
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\"") { break }
      if byte == UInt8(ascii: "\\") { _ = rest.popFirst() }
    }
    return Slice(base: rest.base, bounds: start..<rest.startIndex)
  }

  /// Skips a value up to the comma or bracket that ends it.
  private mutating func skipValue() {
    var depth = 0
    while let byte = rest.first {
      switch byte {
      case UInt8(ascii: "\""): _ = skipString()
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        rest.removeFirst()
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        guard depth > 0 else { return }
        depth -= 1
        rest.removeFirst()
      case UInt8(ascii: ","):
        guard depth > 0 else { return }
        rest.removeFirst()
      default: rest.removeFirst()
      }
    }
  }
}

extension CallError {
  /// The error with the number of the message that it is about; 0 for none.
  fileprivate func adding(seq: UInt64) -> CallError {
    guard seq > 0, case .object(var members)? = data else { return self }
    members["seq"] = .integer(Int64(clamping: seq))
    return CallError(code: code, message: message, data: .object(members))
  }
}
