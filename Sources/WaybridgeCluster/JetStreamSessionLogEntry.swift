import WaySession

/// What one message of a session's log says, in the engine's stream of sessions: a change of it, a
/// piece of one, or that another server has taken it over.
///
/// A session's log is all messages of its subject: what is kept of it is what they make of nothing.
/// Each says by which lease it was written, and the engine refuses one that was not written after
/// the last (`Nats-Expected-Last-Subject-Sequence`), so that who was taken over from writes no more.
struct JetStreamSessionLogEntry: Equatable {
  /// Where in a change that is too large for one message this piece lies. Others are both.
  struct Piece: OptionSet, Equatable {
    let rawValue: UInt8
    static let first = Piece(rawValue: 1)
    static let last = Piece(rawValue: 2)
  }

  var lease: SessionLease
  var piece: Piece = [.first, .last]
  /// Whether the session is over.
  var isEnd = false
  /// Whether it is nobody's from now on.
  var isRelease = false
  /// The steps of the change, written, or as much of that as the piece has.
  var body: ArraySlice<UInt8> = []

  /// How a step is written before which nothing counts.
  fileprivate static let removesAll: UInt8 = 3

  /// Whether it begins a change that makes all of the session anew.
  var beginsAnew: Bool { piece.contains(.first) && body.first == Self.removesAll }

  /// The form of the messages; one that reads a later one is a later version.
  private static let form: UInt8 = 1

  init(
    lease: SessionLease, piece: Piece = [.first, .last], isEnd: Bool = false,
    isRelease: Bool = false
  ) {
    self.lease = lease
    self.piece = piece
    self.isEnd = isEnd
    self.isRelease = isRelease
  }

  /// The messages of a change, each of at most so many bytes.
  static func messages(of change: SessionChange, limit: Int) -> [[UInt8]] {
    var body = ByteWriter()
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
      entry.piece = []
      if start == starts.first { entry.piece.insert(.first) }
      if start == starts.last { entry.piece.insert(.last) }
      entry.body = body.bytes[start..<min(start + room, body.bytes.count)]
      return entry.bytes
    }
  }

  var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.write(byte: Self.form)
    writer.write(byte: piece.rawValue | (isEnd ? 4 : 0) | (isRelease ? 8 : 0))
    writer.write(lease.owner)
    writer.write(UInt64(bitPattern: lease.term))
    writer.write(rest: body)
    return writer.bytes
  }

  /// Reads a message. Throws where it is none of a log.
  init(_ bytes: [UInt8]) throws(ByteFault) {
    var reader = ByteReader(bytes)
    try reader.expect(form: Self.form)
    let flags = try reader.byte()
    guard flags < 16 else { throw ByteFault("it has the flags \(flags)") }
    lease = SessionLease(
      owner: try reader.text(), term: Int64(bitPattern: try reader.number()))
    // The next owner has the next term.
    guard (1..<Int64.max).contains(lease.term) else {
      throw ByteFault("its lease has the term \(lease.term)")
    }
    piece = Piece(rawValue: flags & 3)
    isEnd = flags & 4 != 0
    isRelease = flags & 8 != 0
    body = reader.rest
  }

  /// Reads what ``messages(of:limit:)`` has written of steps, put together again.
  static func steps(_ body: [UInt8]) throws(ByteFault) -> [SessionChange.Step] {
    var reader = ByteReader(body)
    var steps: [SessionChange.Step] = []
    while !reader.rest.isEmpty { steps.append(try reader.step()) }
    return steps
  }
}

extension ByteWriter {
  fileprivate mutating func write(_ step: SessionChange.Step) {
    switch step {
    case .put(let part, let some):
      write(byte: 0)
      write(part)
      write(some)
    case .remove(let part):
      write(byte: 1)
      write(part)
    case .removeRange(let first, let last):
      write(byte: 2)
      write(first)
      write(last)
    case .removeAll: write(byte: JetStreamSessionLogEntry.removesAll)
    }
  }
}

extension ByteReader {
  fileprivate mutating func step() throws(ByteFault) -> SessionChange.Step {
    switch try byte() {
    case 0: .put(part: try text(), bytes: Array(try bytes()))
    case 1: .remove(part: try text())
    case 2: .removeRange(from: try text(), through: try text())
    case JetStreamSessionLogEntry.removesAll: .removeAll
    case let kind: throw ByteFault("it has a step of the kind \(kind)")
    }
  }
}
