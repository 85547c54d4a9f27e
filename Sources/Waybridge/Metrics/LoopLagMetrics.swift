import WaySession
import WayTransport

/// Measures the lag of a loop: once a second, a timer records how late it fires.
final class LoopLagMetrics: Sendable {
  private let loop: any EventLoop
  private let lag = CallDurationHistogram()

  init(loop: any EventLoop) {
    self.loop = loop
    scheduleProbe()
  }

  var counts: HistogramCounts { lag.counts }

  private func scheduleProbe() {
    let due = loop.nanoseconds + 1_000_000_000
    _ = loop.schedule(after: .seconds(1)) { [weak self] in
      guard let self else { return }
      lag.record(nanoseconds: max(loop.nanoseconds, due) - due)
      scheduleProbe()
    }
  }
}
