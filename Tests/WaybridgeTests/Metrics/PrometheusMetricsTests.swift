import CoreMetrics
import Testing

@testable import Waybridge

/// Metrics that apps record through swift-metrics, as `/metrics` exports them.
struct PrometheusMetricsTests {
  private let metrics = PrometheusMetrics()

  private var text: String { PrometheusText.text(metrics.families) }

  @Test func countersAddUpPerLabel() {
    let counter = Counter(label: "shares", dimensions: [("to", "mail")], factory: metrics)
    counter.increment(by: 2)
    Counter(label: "shares", dimensions: [("to", "mail")], factory: metrics).increment()
    Counter(label: "shares", dimensions: [("to", "chat")], factory: metrics).increment()
    counter.increment(by: -5)
    FloatingPointCounter(label: "seconds.of/work", factory: metrics).increment(by: 0.25)
    #expect(
      text == """
        # HELP seconds_of_work seconds.of/work
        # TYPE seconds_of_work counter
        seconds_of_work 0.25
        # HELP shares shares
        # TYPE shares counter
        shares{to="chat"} 1
        shares{to="mail"} 3

        """)
  }

  @Test func gaugesShowTheLastValue() {
    Gauge(label: "jobs", factory: metrics).record(7)
    let meter = Meter(label: "level", factory: metrics)
    meter.set(2)
    meter.increment(by: 1.5)
    meter.decrement(by: 3)
    #expect(text.contains("# TYPE jobs gauge\njobs 7\n"))
    #expect(text.contains("# TYPE level gauge\nlevel 0.5\n"))
  }

  @Test func timersAreHistogramsAndRecordersAreSummaries() {
    Timer(label: "work", factory: metrics).recordMilliseconds(100)
    let recorder = Recorder(label: "sizes", factory: metrics)
    recorder.record(10)
    recorder.record(5.5)
    #expect(text.contains("work_bucket{le=\"0.025\"} 0\nwork_bucket{le=\"0.1\"} 1\n"))
    #expect(text.contains("work_bucket{le=\"+Inf\"} 1\nwork_sum 0.1\nwork_count 1\n"))
    #expect(text.contains("# TYPE sizes summary\nsizes_sum 15.5\nsizes_count 2\n"))
  }

  @Test(arguments: [
    ("a.b-c d", "a_b_c_d"), ("9lives", "_9lives"), ("", "_"), ("größe", "gr__e"), ("a:b", "a:b"),
    ("waybridge_sessions", "app_waybridge_sessions"), ("process.x", "app_process_x"),
  ])
  func labelBecomesAValidMetricName(_ label: String, _ name: String) {
    Counter(label: label, factory: metrics).increment()
    #expect(text.hasSuffix("\n\(name) 1\n"))
  }

  @Test(
    arguments: [
      ([("a b", "x")], #"{a_b="x"}"#), ([("le", "x")], #"{app_le="x"}"#),
      ([("__name__", "x")], #"{app___name__="x"}"#), ([("a.b", "1"), ("a_b", "2")], #"{a_b="2"}"#),
      ([("a", "\"\\\n")], #"{a="\"\\\n"}"#), ([("b", "1"), ("a", "2")], #"{a="2",b="1"}"#),
    ] as [([(String, String)], String)])
  func dimensionsBecomeLabels(_ dimensions: [(String, String)], _ labels: String) {
    Counter(label: "x", dimensions: dimensions, factory: metrics).increment()
    #expect(text.hasSuffix("\nx\(labels) 1\n"))
  }

  @Test func sameNameOfTwoKindsMakesTwoFamilies() {
    Counter(label: "jobs", factory: metrics).increment()
    Gauge(label: "jobs", factory: metrics).record(3)
    #expect(text.contains("# TYPE jobs counter\njobs 1\n"))
    #expect(text.contains("# TYPE jobs_gauge gauge\njobs_gauge 3\n"))
  }

  @Test func helpTextIsOneLine() {
    Counter(label: "a\nb\\", factory: metrics).increment()
    #expect(text.hasPrefix("# HELP a_b_ a\\nb\\\\\n"))
  }

  @Test func metricIsRemovedWithItsLastOwner() {
    let one = Counter(label: "x", factory: metrics)
    let other = Counter(label: "x", factory: metrics)
    one.destroy()
    other.increment()
    #expect(text.hasSuffix("x 1\n"))
    other.destroy()
    #expect(text == "")
  }

  @Test(
    arguments: [
      (1, "1"), (0.5, "0.5"), (-3, "-3"), (1e300, "1e+300"), (.infinity, "+Inf"),
      (-.infinity, "-Inf"), (.nan, "NaN"), (9_007_199_254_740_992, "9007199254740992"),
    ] as [(Double, String)])
  func numbersAreFormatted(_ value: Double, _ text: String) {
    #expect(PrometheusText.number(value) == text)
  }
}
