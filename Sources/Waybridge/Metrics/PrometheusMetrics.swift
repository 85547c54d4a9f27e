import CoreMetrics
import WaySession
import WayTransport

/// A backend of swift-metrics whose values a bridge shows at `/metrics`, beside its own.
///
/// ```swift
/// import Metrics
///
/// MetricsSystem.bootstrap(PrometheusMetrics())
/// ```
///
/// A label becomes the metric's name, with `_` for each character that a name cannot have. Counters
/// and gauges are what they are; a `Timer` is a histogram in seconds, a `Recorder` that aggregates
/// a summary of sum and count. Names that begin with `waybridge_` or `process_` are the bridge's,
/// and those of others get `app_` before them. Where one name is used for two kinds, the later
/// kind's has its kind behind it, as in `jobs_gauge`. Safe on any thread.
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

  /// A counter; the same one for the same label and dimensions, as with the others.
  public func makeCounter(label: String, dimensions: [(String, String)]) -> CounterHandler {
    make(.counter, label, dimensions)
  }

  /// A counter of fractions.
  public func makeFloatingPointCounter(
    label: String, dimensions: [(String, String)]
  ) -> FloatingPointCounterHandler {
    make(.counter, label, dimensions)
  }

  /// A gauge that goes up and down.
  public func makeMeter(label: String, dimensions: [(String, String)]) -> MeterHandler {
    make(.gauge, label, dimensions)
  }

  /// A summary of sum and count where it aggregates, else a gauge of the last value.
  public func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> RecorderHandler {
    make(aggregate ? .summary : .gauge, label, dimensions)
  }

  /// A histogram in seconds.
  public func makeTimer(label: String, dimensions: [(String, String)]) -> TimerHandler {
    make(.histogram, label, dimensions)
  }

  /// Takes the metric out when all who made it are done with it.
  public func destroyCounter(_ handler: CounterHandler) { destroy(handler) }

  /// Takes the metric out when all who made it are done with it.
  public func destroyFloatingPointCounter(_ handler: FloatingPointCounterHandler) {
    destroy(handler)
  }

  /// Takes the metric out when all who made it are done with it.
  public func destroyMeter(_ handler: MeterHandler) { destroy(handler) }

  /// Takes the metric out when all who made it are done with it.
  public func destroyRecorder(_ handler: RecorderHandler) { destroy(handler) }

  /// Takes the metric out when all who made it are done with it.
  public func destroyTimer(_ handler: TimerHandler) { destroy(handler) }
}
