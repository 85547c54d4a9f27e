import WaySession

/// One message of a session's log in the NATS stream of sessions: a change of the session, a
/// fragment of one, or a takeover by another server.
///
/// A session's log is all messages of its subject; the session is what they make of an empty one.
/// Each message has the lease that it was written with. NATS rejects a message that was not
/// written after the last one (`Nats-Expected-Last-Subject-Sequence`), so that a former owner
/// cannot write any more.
struct JetStreamSessionLogEntry: Equatable {
  /// The position of this fragment in a change that is too large for one message. Other changes are
  /// both first and last.
  struct EntryFragment: OptionSet, Equatable {
    let rawValue: UInt8
    static let first = EntryFragment(rawValue: 1)
    static let last = EntryFragment(rawValue: 2)
  }

  var lease: SessionLease
  var fragment: EntryFragment = [.first, .last]
  /// Whether the session has ended.
  var isEnd = false
  /// Whether the session has no owner from now on.
  var isRelease = false
  /// The encoded steps of the change, or the part of them that is in this fragment.
  var body: ArraySlice<UInt8> = []

  /// The code of the step that makes all earlier ones ineffective.
  fileprivate static let removeAllCode: UInt8 = 3

  /// Whether it begins a change that is a snapshot of the session.
  var startsSnapshot: Bool { fragment.contains(.first) && body.first == Self.removeAllCode }

  /// The version of the message format. A server that reads a later one belongs to a later release.
  private static let formatVersion: UInt8 = 1

  init(
    lease: SessionLease, fragment: EntryFragment = [.first, .last], isEnd: Bool = false,
    isRelease: Bool = false
  ) {
    self.lease = lease
    self.fragment = fragment
    self.isEnd = isEnd
    self.isRelease = isRelease
  }

  /// Encodes a change as messages of at most `limit` bytes each.
  static func messages(of change: SessionChange, limit: Int) -> [[UInt8]] {
    var body = RecordByteWriter()
    for step in change.steps { body.write(step) }
    var entry = JetStreamSessionLogEntry(
      lease: change.lease, isEnd: change.isEnd, isRelease: change.isRelease)
    let room = max(limit - entry.bytes.count, 1)
    guard body.bytes.count > room else {
      entry.body = body.bytes[...]
      return [entry.bytes]
    }
    let starts = Array(stride(from: 0, to: body.bytes.count, by: room))
    return starts.map { start in
      entry.fragment = []
      if start == starts.first { entry.fragment.insert(.first) }
      if start == starts.last { entry.fragment.insert(.last) }
      entry.body = body.bytes[start..<min(start + room, body.bytes.count)]
      return entry.bytes
    }
  }

  var bytes: [UInt8] {
    var writer = RecordByteWriter()
    writer.write(byte: Self.formatVersion)
    writer.write(byte: fragment.rawValue | (isEnd ? 4 : 0) | (isRelease ? 8 : 0))
    writer.write(lease.owner)
    writer.write(UInt64(bitPattern: lease.term))
    writer.write(rest: body)
    return writer.bytes
  }

  /// Decodes a message. Throws if it is none of a log.
  init(_ bytes: [UInt8]) throws(ByteDecodingError) {
    var reader = ByteReader(bytes)
    try reader.expect(form: Self.formatVersion)
    let flags = try reader.byte()
    guard flags < 16 else { throw ByteDecodingError("it has the unknown flags \(flags)") }
    lease = SessionLease(
      owner: try reader.string(), term: Int64(bitPattern: try reader.number()))
    // The next owner uses the next term.
    guard (1..<Int64.max).contains(lease.term) else {
      throw ByteDecodingError("its lease has the invalid term \(lease.term)")
    }
    fragment = EntryFragment(rawValue: flags & 3)
    isEnd = flags & 4 != 0
    isRelease = flags & 8 != 0
    body = reader.remaining
  }

  /// Decodes the steps that ``messages(of:limit:)`` has encoded, from the joined fragments.
  static func decodeSteps(_ body: [UInt8]) throws(ByteDecodingError) -> [SessionChange.ChangeStep] {
    var reader = ByteReader(body)
    var steps: [SessionChange.ChangeStep] = []
    while !reader.remaining.isEmpty { steps.append(try reader.step()) }
    return steps
  }
}

extension RecordByteWriter {
  fileprivate mutating func write(_ step: SessionChange.ChangeStep) {
    switch step {
    case .put(let part, let bytes):
      write(byte: 0)
      write(part)
      write(bytes)
    case .remove(let part):
      write(byte: 1)
      write(part)
    case .removeRange(let first, let last):
      write(byte: 2)
      write(first)
      write(last)
    case .removeAll: write(byte: JetStreamSessionLogEntry.removeAllCode)
    }
  }
}

extension ByteReader {
  fileprivate mutating func step() throws(ByteDecodingError) -> SessionChange.ChangeStep {
    switch try byte() {
    case 0: .put(part: try string(), bytes: Array(try bytes()))
    case 1: .remove(part: try string())
    case 2: .removeRange(from: try string(), through: try string())
    case JetStreamSessionLogEntry.removeAllCode: .removeAll
    case let kind: throw ByteDecodingError("it has a step of the unknown kind \(kind)")
    }
  }
}
