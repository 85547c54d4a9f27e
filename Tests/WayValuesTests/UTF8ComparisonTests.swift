import Testing
import WayValues

struct UTF8ComparisonTests {
  /// The comparison reads several bytes at once, also those at the end again.
  @Test(arguments: 0...40)
  func everyByteCounts(length: Int) {
    let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 1) }
    let equal = bytes.span.bytes.isSame(as: Array(bytes).span.bytes)
    #expect(equal)
    for index in bytes.indices {
      var other = bytes
      other[index] ^= 0x80
      let isSame = bytes.span.bytes.isSame(as: other.span.bytes)
      #expect(!isSame, "byte \(index)")
    }
    let longer = bytes + [0]
    let isSame = bytes.span.bytes.isSame(as: longer.span.bytes)
    #expect(!isSame)
  }

  @Test func canonicallyEquivalentNamesDiffer() {
    #expect("caf\u{e9}" == "cafe\u{301}")
    #expect(UTF8Key("caf\u{e9}") != UTF8Key("cafe\u{301}"))
    #expect(UTF8Key("caf\u{e9}") == UTF8Key("caf\u{e9}"))
  }
}
