import CoreMetrics
import WaySession
import WaySockets

/// A backend of swift-metrics whose values a bridge shows at `/metrics`, beside its own.
///
/// ```swift
/// MetricsSystem.bootstrap(PrometheusMetrics())
/// ```
///
/// A label becomes the metric's name, with `_` for each character that a name cannot have. Counters and gauges are
/// what they are; a `Timer` is a histogram in seconds, a `Recorder` that aggregates a summary of sum and count. Names
/// that begin with `waybridge_` or `process_` are the bridge's, and those of others get `app_` before them. Where one
/// name is used for two kinds, the later kind's has its kind behind it, as in `jobs_gauge`. Safe on any thread.
public struct PrometheusMetrics: MetricsFactory {
  private let registry = Locked(MetricRegistry())

  /// An empty one.
  public init() {}

  var families: [MetricFamily] { registry.withLock { $0.families } }

  private func make(
    _ kind: MetricFamily.Kind, _ label: String, _ dimensions: [(String, String)]
  ) -> RegisteredMetric {
    registry.withLock { $0.register(kind, label, dimensions) }
  }

  private func destroy(_ handler: AnyObject) {
    guard let metric = handler as? RegisteredMetric else { return }
    registry.withLock { $0.unregister(metric) }
  }

  public func makeCounter(label: String, dimensions: [(String, String)]) -> CounterHandler {
    make(.counter, label, dimensions)
  }

  public func makeFloatingPointCounter(
    label: String, dimensions: [(String, String)]
  ) -> FloatingPointCounterHandler {
    make(.counter, label, dimensions)
  }

  public func makeMeter(label: String, dimensions: [(String, String)]) -> MeterHandler {
    make(.gauge, label, dimensions)
  }

  public func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> RecorderHandler {
    make(aggregate ? .summary : .gauge, label, dimensions)
  }

  public func makeTimer(label: String, dimensions: [(String, String)]) -> TimerHandler {
    make(.histogram, label, dimensions)
  }

  public func destroyCounter(_ handler: CounterHandler) { destroy(handler) }
  public func destroyFloatingPointCounter(_ handler: FloatingPointCounterHandler) {
    destroy(handler)
  }
  public func destroyMeter(_ handler: MeterHandler) { destroy(handler) }
  public func destroyRecorder(_ handler: RecorderHandler) { destroy(handler) }
  public func destroyTimer(_ handler: TimerHandler) { destroy(handler) }
}
