import CoreMetrics
import WaySession
import WaySockets
import WayTransport

/// Exports a bridge's metrics to the backend of swift-metrics that the app has bootstrapped:
/// durations when calls end, all others every ten seconds.
final class MetricsExporter: Sendable {
  private let factory: any MetricsFactory
  private let timers: [Timer]
  private let exported = Locked([String: ExportedMetric]())

  private struct ExportedMetric {
    let handler: MetricHandler
    var value = 0.0
  }

  private enum MetricHandler {
    case counter(Counter)
    case gauge(Gauge)
  }

  /// `methods` are the names from ``SessionCallMeter/names(of:)``. Nil if no backend is bootstrapped, or
  /// the backend is one that `/metrics` shows.
  init?(
    methods: [String], _ factory: any MetricsFactory = MetricsSystem.factory
  ) {
    if factory is NOOPMetricsHandler || factory is PrometheusMetrics { return nil }
    self.factory = factory
    timers = methods.map {
      Timer(label: BridgeMetrics.callDurationName, dimensions: [("method", $0)], factory: factory)
    }
  }

  /// Records the duration of a call; `method` is its index in ``SessionCallMeter/names(of:)``.
  func recordCall(_ method: SessionCallMeter.MethodIndex, nanoseconds: UInt64) {
    timers[Int(method)].recordNanoseconds(Int64(clamping: nanoseconds))
  }

  /// Exports the families every ten seconds while the loop runs.
  func start(
    on loop: any EventLoop, _ families: @escaping @Sendable () async -> [MetricFamily]
  ) {
    _ = loop.schedule(after: .seconds(10)) { [self] in
      Task {
        export(await families())
        start(on: loop, families)
      }
    }
  }

  func export(_ families: [MetricFamily]) {
    exported.withLock { exported in
      for family in families where family.kind != .histogram {
        for sample in family.samples {
          let key = family.name + sample.labels.map { "\0\($0.value)" }.joined()
          var entry = exported[key] ?? ExportedMetric(handler: handler(family, sample))
          switch entry.handler {
          case .counter(let counter): counter.increment(by: Int64(sample.value - entry.value))
          case .gauge(let gauge): gauge.record(sample.value)
          }
          entry.value = sample.value
          exported[key] = entry
        }
      }
    }
  }

  private func handler(_ family: MetricFamily, _ sample: MetricFamily.Sample) -> MetricHandler {
    let labels = sample.labels.map { ($0.name, $0.value) }
    guard family.kind == .counter else {
      return .gauge(Gauge(label: family.name, dimensions: labels, factory: factory))
    }
    return .counter(Counter(label: family.name, dimensions: labels, factory: factory))
  }
}
