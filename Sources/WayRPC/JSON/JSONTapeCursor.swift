import CSimdjson
import WayValues

/// Reads a parsed document in place, from simdjson's tape (its doc/tape.md) and string buffer.
///
/// All pointers of this target are here. Only the closure of ``read(_:_:)`` receives a cursor,
/// since the tape is invalid after it. Code that passes a cursor on uses a type that cannot escape
/// either, such as ``RPCRequestView``.
struct JSONTapeCursor {
  /// The type of an entry on the tape, by its marker byte.
  struct TapeType: RawRepresentable, Equatable {
    let rawValue: UInt8

    static var null: TapeType { TapeType(rawValue: UInt8(ascii: "n")) }
    static var trueLiteral: TapeType { TapeType(rawValue: UInt8(ascii: "t")) }
    static var falseLiteral: TapeType { TapeType(rawValue: UInt8(ascii: "f")) }
    static var integer: TapeType { TapeType(rawValue: UInt8(ascii: "l")) }
    static var unsigned: TapeType { TapeType(rawValue: UInt8(ascii: "u")) }
    static var double: TapeType { TapeType(rawValue: UInt8(ascii: "d")) }
    static var string: TapeType { TapeType(rawValue: UInt8(ascii: "\"")) }
    static var array: TapeType { TapeType(rawValue: UInt8(ascii: "[")) }
    static var object: TapeType { TapeType(rawValue: UInt8(ascii: "{")) }
    static var arrayEnd: TapeType { TapeType(rawValue: UInt8(ascii: "]")) }
    static var objectEnd: TapeType { TapeType(rawValue: UInt8(ascii: "}")) }
  }

  /// The index of the outermost value. Indexes count the words of the tape.
  static let root = 1

  private let document: UnsafePointer<csimdjson_document>

  // A cursor always has a document without an error, which has both.
  private var tape: UnsafePointer<UInt64> { document.pointee.tape.unsafelyUnwrapped }
  private var strings: UnsafeRawPointer {
    UnsafeRawPointer(document.pointee.strings.unsafelyUnwrapped)
  }
  private var source: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: document.pointee.source, count: document.pointee.length)
  }

  @inline(__always)
  static func read<Result>(
    _ bytes: RawSpan, _ body: (JSONTapeCursor) throws(JSONError) -> Result
  ) throws(JSONError) -> Result {
    try bytes.withUnsafeBytes { (source) throws(JSONError) -> Result in
      guard let document = csimdjson_parse(source.baseAddress, source.count) else {
        throw JSONError("there is no parser")
      }
      defer { csimdjson_done(document) }
      guard document.pointee.error == CSIMDJSON_OK else {
        throw JSONError(document.pointee.error, in: Array(source))
      }
      return try body(JSONTapeCursor(document: document))
    }
  }

  /// Fails if more than `maxDepth` arrays and objects are nested.
  @inline(__always)
  func check(maxDepth: Int) throws(JSONError) {
    // Each array and object occupies two words.
    guard next(after: Self.root) - Self.root > 2 * maxDepth, depth > maxDepth else { return }
    throw .tooDeep(maxDepth)
  }

  /// The nesting of arrays and objects.
  private var depth: Int {
    var (deepest, open) = (0, 0)
    var at = Self.root
    let end = next(after: at)
    while at < end {
      switch kind(at: at) {
      case .object, .array:
        open += 1
        deepest = max(deepest, open)
      case .objectEnd, .arrayEnd: open -= 1
      case .integer, .unsigned, .double: at += 1
      default: break
      }
      at += 1
    }
    return deepest
  }

  /// Returns the type of the value at an index.
  @inline(__always)
  func kind(at index: Int) -> TapeType {
    TapeType(rawValue: UInt8(truncatingIfNeeded: tape[index] >> 56))
  }

  private func payload(at index: Int) -> Int { Int(tape[index] & 0x00FF_FFFF_FFFF_FFFF) }

  /// Returns the index after a value.
  @inline(__always)
  func next(after index: Int) -> Int {
    switch kind(at: index) {
    case .object, .array: Int(UInt32(truncatingIfNeeded: tape[index]))
    case .integer, .unsigned, .double: index + 2
    default: index + 1
    }
  }

  /// Returns the end of the values of an array, or of the alternating names and values of an
  /// object.
  @inline(__always)
  func end(of container: Int) -> Int { next(after: container) - 1 }

  /// Returns the approximate number of values in a value, including itself and the names of
  /// members.
  func size(of index: Int) -> Int { (next(after: index) - index + 1) / 2 }

  /// Returns the number of elements or members of a container; at most 16,777,215 are counted.
  func count(of container: Int) -> Int { Int((tape[container] >> 32) & 0xFF_FFFF) }

  /// Returns a string of at most seven bytes as one number, which distinguishes short names without
  /// creating strings. The highest byte is its length, the lowest its first byte. 0 for longer
  /// strings, and for the empty one.
  @inline(__always)
  func shortStringWord(at index: Int) -> UInt64 {
    let word = prefixWord(ofStringAt: index)
    return word >> 56 < 8 ? word : 0
  }

  /// Returns the length of a string, at most 255, in the highest byte, and its first seven bytes
  /// below, the first in the lowest.
  @inline(__always)
  func prefixWord(ofStringAt index: Int) -> UInt64 {
    let offset = payload(at: index)
    let length = UInt64(strings.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    // simdjson's buffer has 64 spare bytes after the last string.
    let word = strings.loadUnaligned(fromByteOffset: offset + 4, as: UInt64.self)
    let start = UInt64(littleEndian: word) & ((1 << (min(length, 7) * 8)) - 1)
    return start | min(length, 255) << 56
  }

  /// Returns the string at an index without what exceeds `maxBytes`. If a character does not fit,
  /// the text ends with U+FFFD.
  func string(at index: Int, maxBytes: Int) -> String {
    let offset = payload(at: index)
    let length = Int(strings.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    guard length > maxBytes else { return string(at: index) }
    return String(
      decoding: UnsafeRawBufferPointer(start: strings + offset + 4, count: maxBytes), as: UTF8.self)
  }

  func string(at index: Int) -> String {
    let offset = payload(at: index)
    let length = Int(strings.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    let bytes = (strings + offset + 4).assumingMemoryBound(to: UInt8.self)
    // simdjson has checked the bytes.
    return String(
      copying: UTF8Span(unchecked: Span(_unsafeStart: bytes, count: length)))
  }

  /// Whether the string at an index has the bytes of a text.
  func isString(at index: Int, sameAs text: String) -> Bool {
    let offset = payload(at: index)
    let length = Int(strings.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    guard length == text.utf8.count else { return false }
    let bytes = RawSpan(_unsafeStart: strings + offset + 4, byteCount: length)
    return bytes.isSame(as: text.utf8.span.bytes)
  }

  /// Returns the length of a string, at most 255, in the highest byte, and its last seven bytes
  /// below, the last in the lowest.
  @inline(__always)
  func suffixWord(ofStringAt index: Int) -> UInt64 {
    let offset = payload(at: index)
    let length = Int(strings.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    // The length is stored before the first byte, so eight bytes can be read if there are four.
    guard length > 3 else {
      var word = UInt64(length) << 56
      for index in 0..<length {
        let byte = strings.load(fromByteOffset: offset + 4 + index, as: UInt8.self)
        word |= UInt64(byte) << (8 * UInt64(length - 1 - index))
      }
      return word
    }
    let last = strings.loadUnaligned(fromByteOffset: offset + length - 4, as: UInt64.self)
    let bitCount = UInt64(min(length, 7)) * 8
    return UInt64(bigEndian: last) & ((1 << bitCount) - 1) | UInt64(min(length, 255)) << 56
  }

  /// Returns the value at an index.
  func value(at index: Int) -> Value {
    switch kind(at: index) {
    case .object: .object(object(at: index))
    case .array: .array(array(at: index))
    default: scalar(at: index)
    }
  }

  /// Returns the value at the index of a scalar.
  func scalar(at index: Int) -> Value {
    switch kind(at: index) {
    case .string: .string(string(at: index))
    case .integer: integer(at: index)
    case .trueLiteral: .bool(true)
    case .falseLiteral: .bool(false)
    case .unsigned: .number(Number(validated: String(tape[index + 1])))
    case .double: wideNumber(at: index)
    default: .null
    }
  }

  /// Returns an integer from 1 on, however it is written; `nil` for any other value.
  @inline(__always)
  func positiveInteger(at index: Int) -> UInt64? {
    guard kind(at: index) == .integer else { return positiveInteger(writtenAsFractionAt: index) }
    return Int64(bitPattern: tape[index + 1]) > 0 ? tape[index + 1] : nil
  }

  private func positiveInteger(writtenAsFractionAt index: Int) -> UInt64? {
    guard let value = scalar(at: index).exactInteger, value > 0 else { return nil }
    return UInt64(value)
  }

  private func array(at index: Int) -> [Value] {
    var values: [Value] = []
    values.reserveCapacity(count(of: index))
    var at = index + 1
    let end = end(of: index)
    while at < end {
      values.append(value(at: at))
      at = next(after: at)
    }
    return values
  }

  private func object(at index: Int) -> ValueObject {
    guard areDistinct(namesOf: index) else { return objectAllowingDuplicates(at: index) }
    var members: [ValueObject.ObjectMember] = []
    members.reserveCapacity(count(of: index))
    var at = index + 1
    let end = end(of: index)
    while at < end {
      members.append(ValueObject.ObjectMember(name: string(at: at), value: value(at: at + 1)))
      at = next(after: at + 1)
    }
    return ValueObject(distinct: members)
  }

  private func objectAllowingDuplicates(at index: Int) -> ValueObject {
    var object = ValueObject()
    object.reserveCapacity(count(of: index))
    var at = index + 1
    let end = end(of: index)
    while at < end {
      object[string(at: at)] = value(at: at + 1)
      at = next(after: at + 1)
    }
    return object
  }

  /// Whether the names of an object certainly differ. This saves small objects the comparison of
  /// strings. Large objects, and those with names of the same beginning and length, are left to
  /// ``ValueObject``.
  private func areDistinct(namesOf object: Int) -> Bool {
    var seen: InlineArray<8, UInt64> = .init(repeating: 0)
    guard count(of: object) <= seen.count else { return false }
    var known = 0
    var at = object + 1
    let end = end(of: object)
    while at < end {
      let name = prefixWord(ofStringAt: at)
      for index in 0..<known where seen[index] == name { return false }
      seen[known] = name
      known += 1
      at = next(after: at + 1)
    }
    return true
  }

  private func integer(at index: Int) -> Value {
    let value = Int64(bitPattern: tape[index + 1])
    // `-0` is an integer to simdjson.
    if value == 0, source[sourceOffset(ofNumberAt: index)] == UInt8(ascii: "-") {
      return .number(Number(validated: "-0"))
    }
    return .integer(value)
  }

  /// Returns a double, or the number that was too wide to parse: the source distinguishes them.
  private func wideNumber(at index: Int) -> Value {
    let rest = source[sourceOffset(ofNumberAt: index)...]
    let end = rest.firstIndex { !Self.isPartOfNumber($0) } ?? rest.endIndex
    let digits = String(decoding: rest[..<end], as: UTF8.self)
    return Int64(digits).map(Value.integer) ?? .number(Number(validated: digits))
  }

  private func sourceOffset(ofNumberAt index: Int) -> Int {
    // Only a number that is the whole document begins at 0; it is located again.
    if payload(at: index) == 0 { csimdjson_locate_numbers(document) }
    return payload(at: index)
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
