import CoreMetrics
import MetricsTestKit
import Testing
import WaySession

@testable import Waybridge

/// The bridge reports its metrics to the app's swift-metrics backend.
struct MetricsExportTests {
  private let backend = TestMetrics()

  private func family(_ kind: MetricFamily.MetricKind, _ value: Int) -> MetricFamily {
    var family = MetricFamily("x", kind, "")
    family.add(value, ("a", "b"))
    return family
  }

  @Test func countersGrowByTheDifference() throws {
    let export = try #require(
      MetricsExporter(methods: SessionCallMeter.names(of: SessionServer.methodNames), backend))
    for value in [3, 3, 10] { export.export([family(.counter, value)]) }
    #expect(try backend.expectCounter("x", [("a", "b")]).values == [3, 0, 7])
  }

  @Test func gaugesAreSet() throws {
    let export = try #require(
      MetricsExporter(methods: SessionCallMeter.names(of: SessionServer.methodNames), backend))
    for value in [3, 1] { export.export([family(.gauge, value)]) }
    #expect(try backend.expectGauge("x", [("a", "b")]).values == [3, 1])
  }

  @Test func callDurationsAreRecorded() throws {
    let export = try #require(
      MetricsExporter(methods: SessionCallMeter.names(of: SessionServer.methodNames), backend))
    let place = try #require(
      SessionCallMeter.names(of: SessionServer.methodNames).firstIndex(of: "router.open"))
    export.recordCall(SessionCallMeter.MethodIndex(place), nanoseconds: 500)
    let timer = try backend.expectTimer(BridgeMetrics.callDurationName, [("method", "router.open")])
    #expect(timer.values == [500])
  }

  @Test(arguments: [NOOPMetricsHandler.instance, PrometheusMetrics()] as [any MetricsFactory])
  func noExportForNoopOrBuiltInBackend(_ factory: any MetricsFactory) {
    #expect(MetricsExporter(methods: [], factory) == nil)
  }
}
