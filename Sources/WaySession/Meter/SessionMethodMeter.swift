import Synchronization
import WayRPC
import WayValues

/// The outcomes and durations of the calls of one method. Only the loop writes; any thread may
/// read.
struct SessionMethodMeter: ~Copyable, Sendable {
  /// The names of outcomes: `ok`, an error of the application, a code of the protocol by its kind,
  /// any other code.
  static let outcomes = ["ok", "application"] + ErrorCode.allCases.map(\.kind) + ["other"]

  private let counts: InlineArray<32, Atomic<Int>> = InlineArray { _ in Atomic(0) }
  let durations = CallDurationHistogram()

  /// Counts one call; `code` is the code of its error, nil for a result.
  func record(_ code: Int?, nanoseconds: UInt64) {
    if let code {
      counts[min(Self.outcomeIndex(of: code), counts.count - 1)].add(1)
    } else {
      counts[0].add(1)
    }
    durations.record(nanoseconds: nanoseconds)
  }

  /// The outcomes that occurred, with their counts.
  var outcomes: [(outcome: String, count: Int)] {
    zip(Self.outcomes, counts.indices).compactMap { outcome, index in
      let count = counts[index].load(ordering: .relaxed)
      return count == 0 ? nil : (outcome, count)
    }
  }

  private static func outcomeIndex(of code: Int) -> Int {
    if ErrorCode.isApplication(code) { return 1 }
    guard let known = ErrorCode(rawValue: code) else { return outcomes.count - 1 }
    return 2 + (ErrorCode.allCases.firstIndex(of: known) ?? 0)
  }
}
