/// A histogram of durations with four buckets for each doubling. Quantiles are accurate to within
/// an eighth, from a microsecond to half an hour; it takes 512 bytes.
struct InspectedDurationHistogram: Sendable {
  /// Four buckets for each doubling, from 2^10 nanoseconds.
  private static let minExponent = 10
  private var buckets = InlineArray<128, UInt32>(repeating: 0)
  private(set) var count = 0

  mutating func record(nanoseconds: UInt64) {
    count &+= 1
    buckets[Self.bucket(of: nanoseconds)] &+= 1
  }

  static func += (all: inout InspectedDurationHistogram, part: InspectedDurationHistogram) {
    all.count &+= part.count
    for bucket in all.buckets.indices { all.buckets[bucket] &+= part.buckets[bucket] }
  }

  /// The duration in nanoseconds that a share of all (such as 0.99) did not exceed; nil if there
  /// are none.
  func quantile(_ share: Double) -> UInt64? {
    guard count > 0 else { return nil }
    let wanted = max((share * Double(count)).rounded(.up), 1)
    var seen = 0
    for bucket in buckets.indices {
      seen += Int(buckets[bucket])
      if Double(seen) >= wanted { return Self.midpoint(of: bucket) }
    }
    return Self.midpoint(of: buckets.count - 1)
  }

  private static func bucket(of nanoseconds: UInt64) -> Int {
    guard nanoseconds >= 1 << UInt64(minExponent) else { return 0 }
    let power = 63 - nanoseconds.leadingZeroBitCount
    let quarter = Int(truncatingIfNeeded: nanoseconds >> UInt64(power - 2)) & 3
    return min((power - minExponent) * 4 + quarter + 1, 127)
  }

  private static func midpoint(of bucket: Int) -> UInt64 {
    guard bucket > 0 else { return 1 << UInt64(minExponent - 1) }
    let (power, quarter) = ((bucket - 1) / 4 + minExponent, UInt64((bucket - 1) % 4))
    let quarterSize = UInt64(1) << UInt64(power - 2)
    return (4 + quarter) * quarterSize + quarterSize / 2
  }
}
