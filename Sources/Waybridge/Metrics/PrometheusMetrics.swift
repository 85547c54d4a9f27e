import CoreMetrics
import WaySession
import WayTransport

/// A backend of swift-metrics whose values a bridge shows at `/metrics`, with its own.
///
/// ```swift
/// import Metrics
///
/// MetricsSystem.bootstrap(PrometheusMetrics())
/// ```
///
/// A label becomes the metric's name, with `_` for each character that a name cannot have. Counters
/// and gauges stay counters and gauges; a `Timer` is a histogram in seconds, a `Recorder` that
/// aggregates a summary of sum and count.
///
/// Names that begin with `waybridge_` or `process_` are reserved for the bridge; `app_` is put
/// before such names of the app. If one name is used for two kinds, the later kind is appended to
/// its name, as in `jobs_gauge`. Safe on any thread.
public struct PrometheusMetrics: MetricsFactory {
  private let registry = Locked(MetricRegistry())

  /// Creates a backend without metrics.
  public init() {}

  var families: [MetricFamily] { registry.withLock { $0.families } }

  private func make(
    _ kind: MetricFamily.MetricKind, _ label: String, _ dimensions: [(String, String)]
  ) -> RegisteredMetric {
    registry.withLock { $0.register(kind, label, dimensions) }
  }

  private func destroy(_ handler: AnyObject) {
    guard let metric = handler as? RegisteredMetric else { return }
    registry.withLock { $0.unregister(metric) }
  }

  /// A counter; as with all kinds, the same one for the same label and dimensions.
  public func makeCounter(label: String, dimensions: [(String, String)]) -> CounterHandler {
    make(.counter, label, dimensions)
  }

  /// A counter of fractions.
  public func makeFloatingPointCounter(
    label: String, dimensions: [(String, String)]
  ) -> FloatingPointCounterHandler {
    make(.counter, label, dimensions)
  }

  /// A gauge that can rise and fall.
  public func makeMeter(label: String, dimensions: [(String, String)]) -> MeterHandler {
    make(.gauge, label, dimensions)
  }

  /// A summary of sum and count if it aggregates, otherwise a gauge of the last value.
  public func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> RecorderHandler {
    make(aggregate ? .summary : .gauge, label, dimensions)
  }

  /// A histogram in seconds.
  public func makeTimer(label: String, dimensions: [(String, String)]) -> TimerHandler {
    make(.histogram, label, dimensions)
  }

  /// Removes the metric when all its users have destroyed it.
  public func destroyCounter(_ handler: CounterHandler) { destroy(handler) }

  /// Removes the metric when all its users have destroyed it.
  public func destroyFloatingPointCounter(_ handler: FloatingPointCounterHandler) {
    destroy(handler)
  }

  /// Removes the metric when all its users have destroyed it.
  public func destroyMeter(_ handler: MeterHandler) { destroy(handler) }

  /// Removes the metric when all its users have destroyed it.
  public func destroyRecorder(_ handler: RecorderHandler) { destroy(handler) }

  /// Removes the metric when all its users have destroyed it.
  public func destroyTimer(_ handler: TimerHandler) { destroy(handler) }
}
