/// The metrics created through swift-metrics, by name and labels. Creating a metric twice returns
/// the same one.
struct MetricRegistry {
  private struct RegisteredFamily {
    let kind: MetricFamily.MetricKind
    let help: String
    var metrics: [MetricLabels: RegisteredMetric] = [:]
  }

  private var familiesByName: [String: RegisteredFamily] = [:]

  mutating func register(
    _ kind: MetricFamily.MetricKind, _ label: String, _ dimensions: [(String, String)]
  ) -> RegisteredMetric {
    var name = Self.metricName(label)
    if let family = familiesByName[name], family.kind != kind { name += "_\(kind.rawValue)" }
    let labels = MetricLabels(dimensions, kind)
    var family = familiesByName[name] ?? RegisteredFamily(kind: kind, help: label)
    let metric = family.metrics[labels] ?? RegisteredMetric(kind, name, labels)
    metric.referenceCount += 1
    family.metrics[labels] = metric
    familiesByName[name] = family
    return metric
  }

  /// Removes a metric when its last user has destroyed it.
  mutating func unregister(_ metric: RegisteredMetric) {
    guard familiesByName[metric.name]?.metrics[metric.labels] === metric else { return }
    metric.referenceCount -= 1
    guard metric.referenceCount == 0 else { return }
    familiesByName[metric.name]?.metrics[metric.labels] = nil
    if familiesByName[metric.name]?.metrics.isEmpty == true { familiesByName[metric.name] = nil }
  }

  var families: [MetricFamily] {
    familiesByName.sorted { $0.key < $1.key }.map { name, entry in
      var family = MetricFamily(name, entry.kind, entry.help)
      for (_, metric) in entry.metrics.sorted(by: { $0.key < $1.key }) { metric.add(to: &family) }
      return family
    }
  }

  private static func metricName(_ label: String) -> String {
    let name = PrometheusText.name(label, colons: true)
    let isOwn = name.hasPrefix("waybridge_") || name.hasPrefix("process_")
    return isOwn ? "app_" + name : name
  }
}

/// The labels of one metric, sorted by name.
struct MetricLabels: Hashable, Comparable {
  private let names: [String]
  private let values: [String]

  /// If several labels map to one name, the last one is used.
  init(_ dimensions: [(String, String)], _ kind: MetricFamily.MetricKind) {
    var labels: [String: String] = [:]
    for (name, value) in dimensions {
      let name = PrometheusText.name(name, colons: false)
      // Prometheus reserves these names.
      let isReserved = name.hasPrefix("__") || name == "le" || name == "quantile"
      labels[isReserved ? "app_" + name : name] = value
    }
    let sorted = labels.sorted { $0.key < $1.key }
    names = sorted.map(\.key)
    values = sorted.map(\.value)
  }

  var pairs: [(name: String, value: String)] {
    zip(names, values).map { (name: $0, value: $1) }
  }

  static func < (left: MetricLabels, right: MetricLabels) -> Bool {
    (left.names + left.values).lexicographicallyPrecedes(right.names + right.values)
  }
}
