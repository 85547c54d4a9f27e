import CoreMetrics
import MetricsTestKit
import Testing
import WaySession

@testable import Waybridge

/// An app's own backend of swift-metrics gets the bridge's figures.
struct MetricsExportTests {
  private let backend = TestMetrics()

  private func family(_ kind: MetricFamily.Kind, _ value: Int) -> MetricFamily {
    var family = MetricFamily("x", kind, "")
    family.add(value, ("a", "b"))
    return family
  }

  @Test func countersGrowByWhatWasAdded() throws {
    let export = try #require(
      MetricsExporter(methods: SessionCallMeter.names(of: SessionServer.methods), backend))
    for value in [3, 3, 10] { export.export([family(.counter, value)]) }
    #expect(try backend.expectCounter("x", [("a", "b")]).values == [3, 0, 7])
  }

  @Test func gaugesAreSet() throws {
    let export = try #require(
      MetricsExporter(methods: SessionCallMeter.names(of: SessionServer.methods), backend))
    for value in [3, 1] { export.export([family(.gauge, value)]) }
    #expect(try backend.expectGauge("x", [("a", "b")]).values == [3, 1])
  }

  @Test func callsAreTimedAsTheyEnd() throws {
    let export = try #require(
      MetricsExporter(methods: SessionCallMeter.names(of: SessionServer.methods), backend))
    let place = try #require(
      SessionCallMeter.names(of: SessionServer.methods).firstIndex(of: "router.open"))
    export.ended(SessionCallMeter.Place(place), nanoseconds: 500)
    let timer = try backend.expectTimer(BridgeMetrics.duration, [("method", "router.open")])
    #expect(timer.values == [500])
  }

  @Test(arguments: [NOOPMetricsHandler.instance, PrometheusMetrics()] as [any MetricsFactory])
  func noneAndTheOneThatIsShownAnywayGetNothing(_ factory: any MetricsFactory) {
    #expect(MetricsExporter(methods: [], factory) == nil)
  }
}
