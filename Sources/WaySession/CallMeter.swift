import Synchronization
import WayRPC
import WayTransport
import WayValues

/// Counts the calls of one loop. Only that loop writes, without locks; any thread may read.
package final class CallMeter: Sendable {
  /// A method by its place in ``names``.
  package typealias Method = UInt8

  /// The protocol's methods; the last stands for all others, so that peers cannot make the list grow.
  package static let names: [String] = {
    let known = (OpenRPC.document["methods"]?.list ?? []).compactMap { $0["name"]?.string }
    return [frequent] + known.filter { $0 != frequent }.prefix(62) + ["other"]
  }()

  /// Found without a search.
  private static let frequent = "router.invoke"
  private static let places = Dictionary(
    zip(names, 0..<Method(names.count)), uniquingKeysWith: { first, _ in first })

  private let methods: InlineArray<64, MethodMeter> = InlineArray { _ in MethodMeter() }
  private let loop: any EventLoop
  private let timed: (@Sendable (Method, UInt64) -> Void)?
  /// The last reading of the clock in this turn of the loop; 0 where there is none. Where one call follows another
  /// in a turn, the end of the first is the start of the next, so that the clock is read once a call.
  private let lastReading = Atomic<UInt64>(0)

  init(loop: any EventLoop, timed: (@Sendable (Method, UInt64) -> Void)? = nil) {
    self.loop = loop
    self.timed = timed
  }

  static func method(_ name: String) -> Method {
    name == frequent ? 0 : places[name] ?? Method(names.count - 1)
  }

  /// A call begins to be looked at.
  func begin() {
    if lastReading.load(ordering: .relaxed) == 0 { beginTurn() }
  }

  private func beginTurn() {
    lastReading.store(loop.nanoseconds, ordering: .relaxed)
    loop.execute { [self] in lastReading.store(0, ordering: .relaxed) }
  }

  /// When the call that is looked at now began, in the loop's nanoseconds: for one that does not end at once.
  var start: UInt64 { lastReading.load(ordering: .relaxed) }

  /// A call has ended; gives the nanoseconds that it took. `start` is nil for one that ends while it is looked at.
  @discardableResult
  func ended(
    _ method: Method, _ result: Result<Value, RPCError>, since start: UInt64? = nil
  ) -> UInt64 {
    let now = loop.nanoseconds
    let reading = lastReading.load(ordering: .relaxed)
    if reading != 0 { lastReading.store(now, ordering: .relaxed) }
    let start = start ?? (reading == 0 ? now : reading)
    let code: Int? = if case .failure(let error) = result { error.code } else { nil }
    let duration = now - min(start, now)
    methods[Int(method)].record(code, nanoseconds: duration)
    timed?(method, duration)
    return duration
  }

  func ended(_ method: String, _ result: Result<Value, RPCError>) {
    ended(Self.method(method), result)
  }

  /// What was counted so far, of the methods that were called.
  package var counts: [MethodCounts] {
    Self.names.enumerated().compactMap { place, name in
      let outcomes = methods[place].outcomes
      guard !outcomes.isEmpty else { return nil }
      return MethodCounts(
        method: name, outcomes: outcomes, durations: methods[place].durations.counts)
    }
  }
}

/// What a ``CallMeter`` has counted for one method.
package struct MethodCounts: Sendable {
  package let method: String
  /// By `ok`, the `kind` of an error code, `application` or `other`.
  package let outcomes: [(outcome: String, count: Int)]
  package let durations: HistogramCounts
}
