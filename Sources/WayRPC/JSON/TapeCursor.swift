import CSimdjson
import WayValues

/// Reads a parsed document in place, from simdjson's tape (its doc/tape.md) and string buffer.
///
/// All pointers of this target are here. A cursor is only handed to the closure of
/// ``read(_:_:)``, since the tape is gone behind it; who hands it on does so in a type that
/// cannot leave it either, as ``RequestView``.
struct TapeCursor {
  /// What stands on the tape, by the byte that marks it.
  struct Kind: RawRepresentable, Equatable {
    let rawValue: UInt8

    static var null: Kind { Kind(rawValue: UInt8(ascii: "n")) }
    static var yes: Kind { Kind(rawValue: UInt8(ascii: "t")) }
    static var no: Kind { Kind(rawValue: UInt8(ascii: "f")) }
    static var integer: Kind { Kind(rawValue: UInt8(ascii: "l")) }
    static var unsigned: Kind { Kind(rawValue: UInt8(ascii: "u")) }
    static var double: Kind { Kind(rawValue: UInt8(ascii: "d")) }
    static var string: Kind { Kind(rawValue: UInt8(ascii: "\"")) }
    static var list: Kind { Kind(rawValue: UInt8(ascii: "[")) }
    static var object: Kind { Kind(rawValue: UInt8(ascii: "{")) }
    static var listEnd: Kind { Kind(rawValue: UInt8(ascii: "]")) }
    static var objectEnd: Kind { Kind(rawValue: UInt8(ascii: "}")) }
  }

  /// The place of the outermost value. Places are indexes of tape words.
  static let root = 1

  private let document: UnsafePointer<csimdjson_document>

  // Whoever has a cursor has a document without an error, which has both.
  private var tape: UnsafePointer<UInt64> { document.pointee.tape.unsafelyUnwrapped }
  private var strings: UnsafeRawPointer {
    UnsafeRawPointer(document.pointee.strings.unsafelyUnwrapped)
  }
  private var source: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: document.pointee.source, count: document.pointee.length)
  }

  @inline(__always)
  static func read<Result>(
    _ bytes: RawSpan, _ body: (TapeCursor) throws(JSONError) -> Result
  ) throws(JSONError) -> Result {
    try bytes.withUnsafeBytes { (source) throws(JSONError) -> Result in
      guard let document = csimdjson_parse(source.baseAddress, source.count) else {
        throw JSONError("there is no parser")
      }
      defer { csimdjson_done(document) }
      guard document.pointee.error == CSIMDJSON_OK else {
        throw JSONError(document.pointee.error, in: Array(source))
      }
      return try body(TapeCursor(document: document))
    }
  }

  /// Fails where more than `maxDepth` arrays and objects lie within one another.
  @inline(__always)
  func check(maxDepth: Int) throws(JSONError) {
    // Each array and object takes two words.
    guard next(after: Self.root) - Self.root > 2 * maxDepth, depth > maxDepth else { return }
    throw .tooDeep(maxDepth)
  }

  /// How many arrays and objects lie within one another.
  private var depth: Int {
    var (deepest, open) = (0, 0)
    var at = Self.root
    let end = next(after: at)
    while at < end {
      switch kind(at: at) {
      case .object, .list:
        open += 1
        deepest = max(deepest, open)
      case .objectEnd, .listEnd: open -= 1
      case .integer, .unsigned, .double: at += 1
      default: break
      }
      at += 1
    }
    return deepest
  }

  /// What stands at a place.
  @inline(__always)
  func kind(at place: Int) -> Kind { Kind(rawValue: UInt8(truncatingIfNeeded: tape[place] >> 56)) }

  private func payload(at place: Int) -> Int { Int(tape[place] & 0x00FF_FFFF_FFFF_FFFF) }

  /// The place behind a value.
  @inline(__always)
  func next(after place: Int) -> Int {
    switch kind(at: place) {
    case .object, .list: Int(UInt32(truncatingIfNeeded: tape[place]))
    case .integer, .unsigned, .double: place + 2
    default: place + 1
    }
  }

  /// The places of the values of a list, or of names and values by turns of an object.
  @inline(__always)
  func end(of container: Int) -> Int { next(after: container) - 1 }

  /// About how many values a value holds, itself and the names of members counted.
  func size(of place: Int) -> Int { (next(after: place) - place + 1) / 2 }

  /// How many elements or members a container has; at most 16,777,215 are counted.
  func count(of container: Int) -> Int { Int((tape[container] >> 32) & 0xFF_FFFF) }

  /// A string of at most seven bytes as one number, so that short names are told apart without
  /// making strings: its length in the highest byte, its first byte in the lowest. 0 for longer
  /// ones, and for the empty one.
  @inline(__always)
  func shortName(at place: Int) -> UInt64 {
    let word = beginning(ofStringAt: place)
    return word >> 56 < 8 ? word : 0
  }

  /// The length of a string, at most 255, in the highest byte, and its first seven bytes below, the
  /// first in the lowest.
  @inline(__always)
  func beginning(ofStringAt place: Int) -> UInt64 {
    let offset = payload(at: place)
    let length = UInt64(strings.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    // simdjson's buffer has 64 bytes to spare behind the last string.
    let word = strings.loadUnaligned(fromByteOffset: offset + 4, as: UInt64.self)
    let start = UInt64(littleEndian: word) & ((1 << (min(length, 7) * 8)) - 1)
    return start | min(length, 255) << 56
  }

  func string(at place: Int) -> String {
    let offset = payload(at: place)
    let length = Int(strings.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    let bytes = (strings + offset + 4).assumingMemoryBound(to: UInt8.self)
    // simdjson has checked the bytes.
    return String(
      copying: UTF8Span(unchecked: Span(_unsafeStart: bytes, count: length)))
  }

  /// Whether a string has the bytes of a text.
  func isString(at place: Int, sameAs text: String) -> Bool {
    let offset = payload(at: place)
    let length = Int(strings.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    guard length == text.utf8.count else { return false }
    let bytes = RawSpan(_unsafeStart: strings + offset + 4, byteCount: length)
    return bytes.isSame(as: text.utf8.span.bytes)
  }

  /// The length of a string, at most 255, in the highest byte, and its last seven bytes below, the
  /// last in the lowest.
  @inline(__always)
  func end(ofStringAt place: Int) -> UInt64 {
    let offset = payload(at: place)
    let length = Int(strings.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    // The length stands before the first byte, so that eight bytes can be read where there are four.
    guard length > 3 else {
      var word = UInt64(length) << 56
      for index in 0..<length {
        let byte = strings.load(fromByteOffset: offset + 4 + index, as: UInt8.self)
        word |= UInt64(byte) << (8 * UInt64(length - 1 - index))
      }
      return word
    }
    let last = strings.loadUnaligned(fromByteOffset: offset + length - 4, as: UInt64.self)
    let kept = UInt64(min(length, 7)) * 8
    return UInt64(bigEndian: last) & ((1 << kept) - 1) | UInt64(min(length, 255)) << 56
  }

  /// The value at a place.
  func value(at place: Int) -> Value {
    switch kind(at: place) {
    case .object: .object(object(at: place))
    case .list: .list(list(at: place))
    default: scalar(at: place)
    }
  }

  /// The value at a place where no container is.
  func scalar(at place: Int) -> Value {
    switch kind(at: place) {
    case .string: .string(string(at: place))
    case .integer: integer(at: place)
    case .yes: .bool(true)
    case .no: .bool(false)
    case .unsigned: .number(Number(validated: String(tape[place + 1])))
    case .double: wideNumber(at: place)
    default: .null
    }
  }

  /// An integer from 1 on; nil for all else.
  func positive(at place: Int) -> UInt64? {
    guard kind(at: place) == .integer, Int64(bitPattern: tape[place + 1]) > 0 else { return nil }
    return tape[place + 1]
  }

  private func list(at place: Int) -> [Value] {
    var values: [Value] = []
    values.reserveCapacity(count(of: place))
    var at = place + 1
    let end = end(of: place)
    while at < end {
      values.append(value(at: at))
      at = next(after: at)
    }
    return values
  }

  private func object(at place: Int) -> ValueObject {
    guard areDistinct(namesOf: place) else { return objectWithAnyNames(at: place) }
    var members: [ValueObject.Member] = []
    members.reserveCapacity(count(of: place))
    var at = place + 1
    let end = end(of: place)
    while at < end {
      members.append(ValueObject.Member(name: string(at: at), value: value(at: at + 1)))
      at = next(after: at + 1)
    }
    return ValueObject(distinct: members)
  }

  private func objectWithAnyNames(at place: Int) -> ValueObject {
    var object = ValueObject()
    object.reserveCapacity(count(of: place))
    var at = place + 1
    let end = end(of: place)
    while at < end {
      object[string(at: at)] = value(at: at + 1)
      at = next(after: at + 1)
    }
    return object
  }

  /// Whether the names of an object certainly differ. Spares small objects the comparison of
  /// strings; large ones, and those with names of one beginning and one length, are left to
  /// ``ValueObject``.
  private func areDistinct(namesOf object: Int) -> Bool {
    var seen: InlineArray<8, UInt64> = .init(repeating: 0)
    guard count(of: object) <= seen.count else { return false }
    var known = 0
    var at = object + 1
    let end = end(of: object)
    while at < end {
      let name = beginning(ofStringAt: at)
      for index in 0..<known where seen[index] == name { return false }
      seen[known] = name
      known += 1
      at = next(after: at + 1)
    }
    return true
  }

  private func integer(at place: Int) -> Value {
    let value = Int64(bitPattern: tape[place + 1])
    // `-0` is an integer to simdjson.
    if value == 0, source[sourceOffset(ofNumberAt: place)] == UInt8(ascii: "-") {
      return .number(Number(validated: "-0"))
    }
    return .integer(value)
  }

  /// A double, or what stands for a number that was too wide to parse: the source tells which.
  private func wideNumber(at place: Int) -> Value {
    let rest = source[sourceOffset(ofNumberAt: place)...]
    let end = rest.firstIndex { !Self.isPartOfNumber($0) } ?? rest.endIndex
    let digits = String(decoding: rest[..<end], as: UTF8.self)
    return Int64(digits).map(Value.integer) ?? .number(Number(validated: digits))
  }

  private func sourceOffset(ofNumberAt place: Int) -> Int {
    // Only a number that is the whole document begins at 0, and is looked for again.
    if payload(at: place) == 0 { csimdjson_locate_numbers(document) }
    return payload(at: place)
  }

  private static func isPartOfNumber(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"),
      UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
      true
    default: false
    }
  }
}
