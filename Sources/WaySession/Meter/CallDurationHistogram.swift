import Synchronization
import WayValues

/// A histogram of durations. Only the loop writes; any thread may read.
package struct CallDurationHistogram: ~Copyable, Sendable {
  /// The upper bounds of the buckets, in nanoseconds. One more bucket holds longer durations.
  package static let bounds: [UInt64] = [
    2_500, 10_000, 50_000, 250_000, 1_000_000, 5_000_000, 25_000_000, 100_000_000, 500_000_000,
    1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000, 60_000_000_000,
  ]

  private let buckets: InlineArray<15, Atomic<Int>> = InlineArray { _ in Atomic(0) }
  private let sum = Atomic(0)

  package init() {}

  package func record(nanoseconds: UInt64) {
    buckets[Self.bucket(of: nanoseconds)].add(1)
    sum.add(Int(clamping: nanoseconds))
  }

  fileprivate static func bucket(of nanoseconds: UInt64) -> Int {
    var bucket = 0
    while bucket < bounds.count, bounds[bucket] < nanoseconds { bucket += 1 }
    return bucket
  }

  /// The counts so far.
  package var counts: HistogramCounts {
    HistogramCounts(
      buckets: buckets.indices.map { buckets[$0].load(ordering: .relaxed) },
      nanoseconds: UInt64(max(sum.load(ordering: .relaxed), 0)))
  }
}

/// The counts of a ``CallDurationHistogram``.
package struct HistogramCounts: Sendable {
  /// The number of durations in each bucket, without those of lower buckets. The last bucket is for
  /// durations above every bound.
  package var buckets: [Int]
  /// The sum of all durations.
  package var nanoseconds: UInt64

  package init(buckets: [Int], nanoseconds: UInt64) {
    self.buckets = buckets
    self.nanoseconds = nanoseconds
  }

  /// Creates empty counts.
  package init() {
    self.init(
      buckets: Array(repeating: 0, count: CallDurationHistogram.bounds.count + 1), nanoseconds: 0
    )
  }

  static func += (all: inout HistogramCounts, part: HistogramCounts) {
    for (bucket, count) in zip(part.buckets.indices, part.buckets) { all.buckets[bucket] += count }
    all.nanoseconds &+= part.nanoseconds
  }

  package mutating func record(nanoseconds: UInt64) {
    buckets[CallDurationHistogram.bucket(of: nanoseconds)] += 1
    self.nanoseconds &+= nanoseconds
  }
}

extension Atomic where Value == Int {
  /// Adds, wrapping around. With a single writer, a load and a store cost less than an atomic
  /// addition.
  @inline(__always) func add(_ amount: Int) {
    store(load(ordering: .relaxed) &+ amount, ordering: .relaxed)
  }
}
