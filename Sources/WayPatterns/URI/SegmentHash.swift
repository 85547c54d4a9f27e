/// A hash over the decoded bytes of a segment. Its seed is random for each process, so that the
/// author of patterns cannot choose collisions.
struct SegmentHash {
  private static let seed = UInt64.random(in: .min ... .max)

  private var state = seed
  private var word: UInt64 = 0
  private var count: UInt64 = 0

  @inline(__always)
  mutating func add(_ byte: UInt8) {
    word = word &<< 8 | UInt64(byte)
    count &+= 1
    if count & 7 == 0 {
      state = Self.mixed(state ^ word)
      word = 0
    }
  }

  @inline(__always)
  var value: UInt32 { UInt32(truncatingIfNeeded: Self.mixed(state ^ word &+ count &<< 56)) }

  @inline(__always)
  static func mixed(_ value: UInt64) -> UInt64 {
    let product = value.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    return product.high ^ product.low
  }
}
