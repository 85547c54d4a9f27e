import WaySession

/// What one message of a session's log says, in the engine's stream of sessions: a change of it, a
/// piece of one, or that another server has taken it over.
///
/// A session's log is all messages of its subject: what is kept of it is what they make of nothing.
/// Each says by which lease it was written, and the engine refuses one that was not written after
/// the last (`Nats-Expected-Last-Subject-Sequence`), so that who was taken over from writes no more.
struct SessionLogEntry: Equatable {
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
  /// The steps of the change, written, or as much of that as the piece has.
  var body: ArraySlice<UInt8> = []

  /// The form of the messages; one that reads a later one is a later version.
  private static let form: UInt8 = 1

  init(lease: SessionLease, piece: Piece = [.first, .last], isEnd: Bool = false) {
    self.lease = lease
    self.piece = piece
    self.isEnd = isEnd
  }

  /// The messages of a change, each of at most so many bytes.
  static func messages(of change: SessionChange, limit: Int) -> [[UInt8]] {
    var body = ByteWriter()
    for step in change.steps { body.write(step) }
    var entry = SessionLogEntry(lease: change.lease, isEnd: change.isEnd)
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
    writer.bytes = [Self.form, piece.rawValue | (isEnd ? 4 : 0)]
    writer.write(lease.owner)
    writer.write(UInt64(bitPattern: lease.term))
    writer.bytes += body
    return writer.bytes
  }

  /// Reads a message. Throws where it is none of a log.
  init(_ bytes: [UInt8]) throws(SessionLogFault) {
    var reader = ByteReader(bytes)
    let form = try reader.byte()
    guard form == Self.form else {
      throw SessionLogFault("it has the form \(form), and this version reads \(Self.form)")
    }
    let flags = try reader.byte()
    guard flags < 8 else { throw SessionLogFault("it has the flags \(flags)") }
    lease = SessionLease(
      owner: try reader.text(), term: Int64(bitPattern: try reader.number()))
    piece = Piece(rawValue: flags & 3)
    isEnd = flags & 4 != 0
    body = reader.rest
  }

  /// Reads what ``messages(of:limit:)`` has written of steps, put together again.
  static func steps(_ body: [UInt8]) throws(SessionLogFault) -> [SessionChange.Step] {
    var reader = ByteReader(body)
    var steps: [SessionChange.Step] = []
    while !reader.rest.isEmpty { steps.append(try reader.step()) }
    return steps
  }
}

/// Why a message of a session's log cannot be read.
struct SessionLogFault: Error, Equatable, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

/// Writes numbers with their high bytes first, and texts and bytes behind their length.
private struct ByteWriter {
  var bytes: [UInt8] = []

  mutating func write(_ number: UInt64) {
    for shift in stride(from: 56, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
    }
  }

  mutating func write(_ some: some Collection<UInt8>) {
    write(UInt64(some.count))
    bytes += some
  }

  mutating func write(_ text: String) { write(Array(text.utf8)) }

  mutating func write(_ step: SessionChange.Step) {
    switch step {
    case .put(let part, let some):
      bytes.append(0)
      write(part)
      write(some)
    case .remove(let part):
      bytes.append(1)
      write(part)
    case .removeRange(let first, let last):
      bytes.append(2)
      write(first)
      write(last)
    case .removeAll: bytes.append(3)
    }
  }
}

private struct ByteReader {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  mutating func byte() throws(SessionLogFault) -> UInt8 {
    guard let byte = rest.popFirst() else { throw SessionLogFault("it is cut off") }
    return byte
  }

  mutating func number() throws(SessionLogFault) -> UInt64 {
    var number: UInt64 = 0
    for _ in 0..<8 { number = number << 8 | UInt64(try byte()) }
    return number
  }

  mutating func bytes() throws(SessionLogFault) -> ArraySlice<UInt8> {
    let count = try number()
    guard count <= UInt64(rest.count) else { throw SessionLogFault("it is cut off") }
    defer { rest = rest.dropFirst(Int(count)) }
    return rest.prefix(Int(count))
  }

  mutating func text() throws(SessionLogFault) -> String {
    guard let text = String(validating: try bytes(), as: UTF8.self) else {
      throw SessionLogFault("a name in it is not UTF-8")
    }
    return text
  }

  mutating func step() throws(SessionLogFault) -> SessionChange.Step {
    switch try byte() {
    case 0: .put(part: try text(), bytes: Array(try bytes()))
    case 1: .remove(part: try text())
    case 2: .removeRange(from: try text(), through: try text())
    case 3: .removeAll
    case let kind: throw SessionLogFault("it has a step of the kind \(kind)")
    }
  }
}
