import CoreMetrics
import WaySession
import WayTransport

/// One metric created through swift-metrics, with the sum, count and histogram that its kind needs.
final class RegisteredMetric: CounterHandler, FloatingPointCounterHandler, MeterHandler,
  RecorderHandler, TimerHandler
{
  private struct MetricState {
    var value = 0.0
    var count = 0
    var durations = HistogramCounts()
  }

  let name: String
  let labels: MetricLabels
  private let kind: MetricFamily.MetricKind
  private let state = Locked(MetricState())
  private let references = Locked(0)

  /// The number of handlers that were returned and not destroyed. Used under the registry's lock.
  var referenceCount: Int {
    get { references.withLock { $0 } }
    set { references.withLock { $0 = newValue } }
  }

  init(_ kind: MetricFamily.MetricKind, _ name: String, _ labels: MetricLabels) {
    self.kind = kind
    self.name = name
    self.labels = labels
  }

  func increment(by amount: Int64) { increment(by: Double(amount)) }

  /// A counter never decreases; a negative amount is ignored.
  func increment(by amount: Double) {
    guard kind != .counter || amount >= 0 else { return }
    state.withLock { $0.value += amount }
  }

  func decrement(by amount: Double) { state.withLock { $0.value -= amount } }

  func reset() { state.withLock { $0 = MetricState() } }

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
