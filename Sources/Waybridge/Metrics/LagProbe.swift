import WaySession
import WayTransport

/// How late a loop is: once a second, a timer looks by how much it missed its time.
final class LagProbe: Sendable {
  private let loop: any EventLoop
  private let lateness = CallDurationHistogram()

  init(loop: any EventLoop) {
    self.loop = loop
    next()
  }

  var counts: HistogramCounts { lateness.counts }

  private func next() {
    let due = loop.nanoseconds + 1_000_000_000
    _ = loop.schedule(after: .seconds(1)) { [weak self] in
      guard let self else { return }
      lateness.record(nanoseconds: max(loop.nanoseconds, due) - due)
      next()
    }
  }
}
