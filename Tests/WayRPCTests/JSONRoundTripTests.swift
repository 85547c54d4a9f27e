import TestSupport
import Testing
import WayRPC
import WayValues

/// Random values from a seed are unchanged after encoding and parsing.
@Suite struct JSONRoundTripTests {
  @Test(arguments: 1...60 as ClosedRange<UInt64>)
  func randomValuesRoundTrip(seed: UInt64) throws {
    var source = ValueSource(seed: seed)
    var writer = JSONWriter()
    for _ in 0..<20 {
      let value = source.value(depth: 5)
      writer.reset()
      try writer.write(value)
      #expect(try JSON.parse(writer.bytes.span.bytes) == value, "seed \(seed)")
    }
  }

  /// Arbitrary bytes are parsed or rejected, and a rejection agrees with the scanner that explains
  /// it.
  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func rejectsBrokenTextsWithOffset(seed: UInt64) throws {
    var source = ValueSource(seed: seed)
    var writer = JSONWriter()
    for _ in 0..<50 {
      writer.reset()
      try writer.write(source.value(depth: 4))
      var bytes = writer.bytes
      for _ in 0..<Int.random(in: 1...3, using: &source.random) {
        let place = Int.random(in: 0..<bytes.count, using: &source.random)
        bytes[place] = "[]{},:\"\\-0e.n \n".utf8.randomElement(using: &source.random) ?? 0
      }
      do {
        let value = try JSON.parse(bytes.span.bytes)
        writer.reset()
        try writer.write(value)
        #expect(try JSON.parse(writer.bytes.span.bytes) == value, "seed \(seed)")
      } catch let error as JSONError {
        let hasPlace = error.offset != nil || error.message == "there is nothing but space"
        #expect(hasPlace, "seed \(seed): \(error) in \(String(decoding: bytes, as: UTF8.self))")
      }
    }
  }
}

struct ValueSource {
  var random: SeededRandom

  init(seed: UInt64) {
    random = SeededRandom(seed: seed)
  }

  mutating func value(depth: Int) -> Value {
    switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &random) {
    case 0: .null
    case 1: .bool(Bool.random(using: &random))
    case 2:
      .integer(Int64(truncatingIfNeeded: random.next()) >> Int64.random(in: 0..<64, using: &random))
    case 3: Value(Double(bitPattern: random.next()))
    case 4, 5: .string(string())
    case 6: .array((0..<Int.random(in: 0...5, using: &random)).map { _ in value(depth: depth - 1) })
    default:
      .object(
        ValueObject(
          (0..<Int.random(in: 0...12, using: &random)).map { _ in
            (string(), value(depth: depth - 1))
          }))
    }
  }

  private mutating func string() -> String {
    let pieces = ["a", "é", "😀", "\"", "\\", "\n", "\0", "\u{1F}", " ", "/", "long piece of text"]
    return (0..<Int.random(in: 0...8, using: &random))
      .map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
  }
}
