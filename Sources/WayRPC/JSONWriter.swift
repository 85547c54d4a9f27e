import WayValues

/// Appends values as compact JSON text to bytes that are used again and again.
///
/// Escapes no more than RFC 8259 §7 demands. Numbers are written with their digits.
package struct JSONWriter {
  package internal(set) var bytes: [UInt8] = []
  /// Writing stops soon after so many bytes, since nobody would be sent them.
  var limit = Int.max
  /// Set by a text that was left out, since it goes beyond the limit.
  var isOverLimit = false

  private static let keptCapacity = 64 * 1024

  package init() {}

  /// Forgets what was written and keeps the memory, unless it is much.
  package mutating func reset() {
    bytes.removeAll(keepingCapacity: bytes.capacity <= Self.keptCapacity)
    limit = .max
    isOverLimit = false
  }

  /// Drops what was written from `count` on.
  mutating func cut(to count: Int) {
    isOverLimit = false
    bytes.removeLast(bytes.count - count)
  }

  /// Appends text that is JSON already, from the program itself.
  @inline(__always)
  mutating func raw(_ text: StaticString) {
    text.withUTF8Buffer { bytes.append(contentsOf: $0) }
  }

  /// Appends text that is JSON already.
  @inline(__always)
  mutating func raw(verbatim text: String) {
    bytes.append(contentsOf: text.utf8)
  }

  /// Appends a value. Fails when it nests more than `maxDepth` arrays and objects, and when it goes
  /// beyond the limit; what was written by then stays.
  package mutating func write(
    _ value: Value, maxDepth: Int = JSON.maxDepth
  ) throws(EncodingFailure) {
    switch value {
    case .null: raw("null")
    case .bool(let value): raw(value ? "true" : "false")
    case .integer(let value): write(value)
    case .number(let number): raw(verbatim: number.digits)
    case .string(let text): write(text)
    case .list(let values): try write(values, maxDepth)
    case .object(let object): try write(object, maxDepth)
    }
    if bytes.count > limit || isOverLimit { throw .tooLarge }
  }

  private mutating func write(_ values: [Value], _ maxDepth: Int) throws(EncodingFailure) {
    if maxDepth < 1 { throw .tooDeep }
    bytes.append(UInt8(ascii: "["))
    for index in values.indices {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      try write(values[index], maxDepth: maxDepth - 1)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  private mutating func write(_ object: ValueObject, _ maxDepth: Int) throws(EncodingFailure) {
    if maxDepth < 1 { throw .tooDeep }
    let members = object.members
    if members.isEmpty { bytes.append(UInt8(ascii: "{")) }
    for index in members.indices {
      write(members[index].name, after: index == 0 ? UInt8(ascii: "{") : UInt8(ascii: ","))
      bytes.append(UInt8(ascii: ":"))
      try write(members[index].value, maxDepth: maxDepth - 1)
    }
    bytes.append(UInt8(ascii: "}"))
  }

  /// Appends an integer.
  package mutating func write(_ value: Int64) {
    var digits: InlineArray<20, UInt8> = .init(repeating: 0)
    var first = digits.count
    var rest = value.magnitude
    repeat {
      let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
      first -= 1
      digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit)
      rest = quotient
    } while rest > 0
    if value < 0 {
      first -= 1
      digits[first] = UInt8(ascii: "-")
    }
    bytes.append(addingCapacity: digits.count - first) { output in
      for index in first..<digits.count { output.append(digits[index]) }
    }
  }
}

extension EncodingFailure {
  static var tooDeep: EncodingFailure {
    EncodingFailure("it nests too many arrays and objects")
  }

  static var tooLarge: EncodingFailure {
    EncodingFailure("it is larger than its limit")
  }
}
