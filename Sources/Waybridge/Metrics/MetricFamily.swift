import WaySession

/// One metric with all its samples.
struct MetricFamily {
  enum MetricKind: String {
    case counter, gauge, histogram, summary
  }

  struct Sample {
    /// The suffix of the family's name: `_bucket`, `_sum` and `_count` of a histogram.
    var suffix = ""
    var labels: [(name: String, value: String)] = []
    var value: Double
  }

  let name: String
  let help: String
  let kind: MetricKind
  var samples: [Sample] = []

  init(_ name: String, _ kind: MetricKind, _ help: String) {
    self.name = name
    self.kind = kind
    self.help = help
  }

  /// A family with one sample.
  init(_ name: String, _ kind: MetricKind, _ help: String, value: Double) {
    self.init(name, kind, help)
    samples = [Sample(value: value)]
  }

  /// A family with one sample.
  init(_ name: String, _ kind: MetricKind, _ help: String, value: Int) {
    self.init(name, kind, help, value: Double(value))
  }

  mutating func add(_ value: Int, _ labels: (name: String, value: String)...) {
    add(Double(value), labels)
  }

  mutating func add(_ value: Double, _ labels: [(name: String, value: String)]) {
    samples.append(Sample(labels: labels, value: value))
  }

  /// Adds the buckets, the sum and the count of a histogram, in seconds.
  mutating func add(
    _ histogram: HistogramCounts, _ labels: [(name: String, value: String)] = []
  ) {
    var count = 0
    let bounds = CallDurationHistogram.bounds.map { Double($0) / 1e9 } + [.infinity]
    for (bound, bucket) in zip(bounds, histogram.buckets) {
      count += bucket
      samples.append(
        Sample(
          suffix: "_bucket", labels: labels + [("le", PrometheusText.number(bound))],
          value: Double(count)))
    }
    samples.append(
      Sample(suffix: "_sum", labels: labels, value: Double(histogram.nanoseconds) / 1e9))
    samples.append(Sample(suffix: "_count", labels: labels, value: Double(count)))
  }
}
