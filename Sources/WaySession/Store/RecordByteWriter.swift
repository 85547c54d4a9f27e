/// Writes numbers with their high bytes first, and texts and bytes behind their length.
package struct ByteWriter {
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

  /// What goes to the end, without its length.
  package mutating func write(rest: some Collection<UInt8>) { bytes += rest }
}

/// Reads what ``ByteWriter`` writes.
package struct ByteReader {
  package private(set) var rest: ArraySlice<UInt8>

  package init(_ bytes: [UInt8]) { rest = bytes[...] }

  package mutating func byte() throws(ByteFault) -> UInt8 {
    guard let byte = rest.popFirst() else { throw ByteFault("it is cut off") }
    return byte
  }

  /// Reads the form that what follows has. Throws for another than this version's.
  package mutating func expect(form expected: UInt8) throws(ByteFault) {
    let form = try byte()
    guard form == expected else {
      throw ByteFault("it has the form \(form), and this version reads \(expected)")
    }
  }

  package mutating func number() throws(ByteFault) -> UInt64 {
    var number: UInt64 = 0
    for _ in 0..<8 { number = number << 8 | UInt64(try byte()) }
    return number
  }

  package mutating func bytes() throws(ByteFault) -> ArraySlice<UInt8> {
    let count = try number()
    guard count <= UInt64(rest.count) else { throw ByteFault("it is cut off") }
    defer { rest = rest.dropFirst(Int(count)) }
    return rest.prefix(Int(count))
  }

  package mutating func text() throws(ByteFault) -> String {
    guard let text = String(validating: try bytes(), as: UTF8.self) else {
      throw ByteFault("a text in it is not UTF-8")
    }
    return text
  }
}

/// Why bytes that another server has written cannot be read.
package struct ByteFault: Error, Equatable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) {
    self.description = description
  }
}
