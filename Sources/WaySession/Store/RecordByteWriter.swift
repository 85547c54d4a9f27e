/// Encodes numbers in big-endian order, and strings and bytes with their length before them.
package struct RecordByteWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func write(byte: UInt8) { bytes.append(byte) }

  package mutating func write(_ number: UInt64) {
    for shift in stride(from: 56, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
    }
  }

  package mutating func write(_ some: some Collection<UInt8>) {
    write(UInt64(some.count))
    bytes += some
  }

  package mutating func write(_ text: String) { write(Array(text.utf8)) }

  /// Writes the bytes that extend to the end, without their length.
  package mutating func write(rest: some Collection<UInt8>) { bytes += rest }
}

/// Decodes the output of ``RecordByteWriter``.
package struct ByteReader {
  package private(set) var remaining: ArraySlice<UInt8>

  package init(_ bytes: [UInt8]) { remaining = bytes[...] }

  package mutating func byte() throws(ByteDecodingError) -> UInt8 {
    guard let byte = remaining.popFirst() else { throw ByteDecodingError("it is truncated") }
    return byte
  }

  /// Reads the version of the format that follows. Throws if it is not the expected one.
  package mutating func expect(form expected: UInt8) throws(ByteDecodingError) {
    let form = try byte()
    guard form == expected else {
      throw ByteDecodingError("its format is \(form), and this version reads only \(expected)")
    }
  }

  package mutating func number() throws(ByteDecodingError) -> UInt64 {
    var number: UInt64 = 0
    for _ in 0..<8 { number = number << 8 | UInt64(try byte()) }
    return number
  }

  package mutating func bytes() throws(ByteDecodingError) -> ArraySlice<UInt8> {
    let count = try number()
    guard count <= UInt64(remaining.count) else { throw ByteDecodingError("it is truncated") }
    defer { remaining = remaining.dropFirst(Int(count)) }
    return remaining.prefix(Int(count))
  }

  package mutating func string() throws(ByteDecodingError) -> String {
    guard let text = String(validating: try bytes(), as: UTF8.self) else {
      throw ByteDecodingError("one of its strings is not UTF-8")
    }
    return text
  }
}

/// The reason why bytes from another server cannot be decoded.
package struct ByteDecodingError: Error, Equatable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) {
    self.description = description
  }
}
