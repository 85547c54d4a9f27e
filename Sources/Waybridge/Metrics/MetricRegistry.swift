/// The metrics that were made through swift-metrics, by name and labels. What is made twice is one
/// metric.
struct MetricRegistry {
  private struct Family {
    let kind: MetricFamily.Kind
    let help: String
    var metrics: [MetricLabels: RegisteredMetric] = [:]
  }

  private var byName: [String: Family] = [:]

  mutating func register(
    _ kind: MetricFamily.Kind, _ label: String, _ dimensions: [(String, String)]
  ) -> RegisteredMetric {
    var name = Self.name(label)
    if let family = byName[name], family.kind != kind { name += "_\(kind.rawValue)" }
    let labels = MetricLabels(dimensions, kind)
    var family = byName[name] ?? Family(kind: kind, help: label)
    let metric = family.metrics[labels] ?? RegisteredMetric(kind, name, labels)
    metric.users += 1
    family.metrics[labels] = metric
    byName[name] = family
    return metric
  }

  /// Takes a metric out when the last who made it is done with it.
  mutating func unregister(_ metric: RegisteredMetric) {
    guard byName[metric.name]?.metrics[metric.labels] === metric else { return }
    metric.users -= 1
    guard metric.users == 0 else { return }
    byName[metric.name]?.metrics[metric.labels] = nil
    if byName[metric.name]?.metrics.isEmpty == true { byName[metric.name] = nil }
  }

  var families: [MetricFamily] {
    byName.sorted { $0.key < $1.key }.map { name, entry in
      var family = MetricFamily(name, entry.kind, entry.help)
      for (_, metric) in entry.metrics.sorted(by: { $0.key < $1.key }) { metric.add(to: &family) }
      return family
    }
  }

  private static func name(_ label: String) -> String {
    let name = PrometheusText.name(label, colons: true)
    let isOwn = name.hasPrefix("waybridge_") || name.hasPrefix("process_")
    return isOwn ? "app_" + name : name
  }
}

/// The labels of one metric, in the order of their names.
struct MetricLabels: Hashable, Comparable {
  private let names: [String]
  private let values: [String]

  /// Of labels that come to one name, the last counts.
  init(_ dimensions: [(String, String)], _ kind: MetricFamily.Kind) {
    var labels: [String: String] = [:]
    for (name, value) in dimensions {
      let name = PrometheusText.name(name, colons: false)
      // Those are Prometheus's own.
      let isTaken = name.hasPrefix("__") || name == "le" || name == "quantile"
      labels[isTaken ? "app_" + name : name] = value
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
