import CoreMetrics
import WaySession
import WayTransport

/// One metric made through swift-metrics: what its kind needs of a sum, a count and a histogram.
final class RegisteredMetric: CounterHandler, FloatingPointCounterHandler, MeterHandler,
  RecorderHandler, TimerHandler
{
  private struct State {
    var value = 0.0
    var count = 0
    var durations = HistogramCounts()
  }

  let name: String
  let labels: MetricLabels
  private let kind: MetricFamily.Kind
  private let state = Locked(State())
  private let userCount = Locked(0)

  /// How many were handed out and not destroyed. Used under the registry's lock.
  var users: Int {
    get { userCount.withLock { $0 } }
    set { userCount.withLock { $0 = newValue } }
  }

  init(_ kind: MetricFamily.Kind, _ name: String, _ labels: MetricLabels) {
    self.kind = kind
    self.name = name
    self.labels = labels
  }

  func increment(by amount: Int64) { increment(by: Double(amount)) }

  /// A counter never goes down; what would make it is left out.
  func increment(by amount: Double) {
    guard kind != .counter || amount >= 0 else { return }
    state.withLock { $0.value += amount }
  }

  func decrement(by amount: Double) { state.withLock { $0.value -= amount } }

  func reset() { state.withLock { $0 = State() } }

  func set(_ value: Int64) { set(Double(value)) }

  func set(_ value: Double) { state.withLock { $0.value = value } }

  func record(_ value: Int64) { record(Double(value)) }

  func record(_ value: Double) {
    state.withLock { state in
      state.value = kind == .gauge ? value : state.value + value
      state.count += 1
    }
  }

  func recordNanoseconds(_ duration: Int64) {
    state.withLock { $0.durations.record(nanoseconds: UInt64(max(duration, 0))) }
  }

  func add(to family: inout MetricFamily) {
    let state = state.withLock { $0 }
    switch kind {
    case .counter, .gauge: family.add(state.value, labels.pairs)
    case .histogram: family.add(state.durations, labels.pairs)
    case .summary:
      family.samples += [
        .init(suffix: "_sum", labels: labels.pairs, value: state.value),
        .init(suffix: "_count", labels: labels.pairs, value: Double(state.count)),
      ]
    }
  }
}
