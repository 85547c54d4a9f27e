import WayValues

/// Appends values as compact JSON text to bytes that are used again and again.
///
/// Escapes no more than RFC 8259 §7 demands. Numbers are written with their digits.
package struct JSONWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  private static let keptCapacity = 64 * 1024

  /// Forgets what was written and keeps the memory, unless it is much.
  package mutating func reset() {
    bytes.removeAll(keepingCapacity: bytes.capacity <= Self.keptCapacity)
  }

  /// Drops what was written from `count` on.
  mutating func cut(to count: Int) {
    bytes.removeLast(bytes.count - count)
  }

  /// Appends text that is JSON already.
  @inline(__always)
  mutating func raw(_ text: String) {
    bytes.append(contentsOf: text.utf8)
  }

  /// Appends a value. Fails when it nests more than `maxDepth` arrays and objects; what was written by then stays.
  package mutating func write(
    _ value: Value, maxDepth: Int = JSON.maxDepth
  ) throws(EncodingFailure) {
    switch value {
    case .null: raw("null")
    case .bool(let value): raw(value ? "true" : "false")
    case .integer(let value): write(value)
    case .number(let number): raw(number.digits)
    case .string(let text): write(text)
    case .list(let values): try write(values, maxDepth)
    case .object(let object): try write(object, maxDepth)
    }
  }

  private mutating func write(_ values: [Value], _ maxDepth: Int) throws(EncodingFailure) {
    if maxDepth < 1 { throw .tooDeep }
    bytes.append(UInt8(ascii: "["))
    var isFirst = true
    for value in values {
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      try write(value, maxDepth: maxDepth - 1)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  private mutating func write(_ object: ValueObject, _ maxDepth: Int) throws(EncodingFailure) {
    if maxDepth < 1 { throw .tooDeep }
    bytes.append(UInt8(ascii: "{"))
    var isFirst = true
    for (name, value) in object.members {
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      write(name)
      bytes.append(UInt8(ascii: ":"))
      try write(value, maxDepth: maxDepth - 1)
    }
    bytes.append(UInt8(ascii: "}"))
  }

  /// Appends an integer.
  package mutating func write(_ value: Int64) {
    if value < 0 { bytes.append(UInt8(ascii: "-")) }
    var rest = value.magnitude
    let start = bytes.count
    repeat {
      bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    } while rest > 0
    bytes[start...].reverse()
  }

  /// Appends a string in quotes.
  package mutating func write(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    if Self.needsNoEscape(text) {
      bytes.append(contentsOf: text.utf8)
    } else {
      for byte in text.utf8 { escape(byte) }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func needsNoEscape(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
  }

  private mutating func escape(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""): raw("\\\"")
    case UInt8(ascii: "\\"): raw("\\\\")
    case 0x08: raw("\\b")
    case 0x09: raw("\\t")
    case 0x0A: raw("\\n")
    case 0x0C: raw("\\f")
    case 0x0D: raw("\\r")
    case 0..<0x10: raw("\\u000\(String(byte, radix: 16))")
    case 0x10..<0x20: raw("\\u00\(String(byte, radix: 16))")
    default: bytes.append(byte)
    }
  }
}

extension EncodingFailure {
  static var tooDeep: EncodingFailure {
    EncodingFailure("the value nests too many arrays and objects")
  }
}
