import WayTransport
import WayValues

/// Passes the audit records of a server to its sink. Changes by administrators always have a record.
/// Usable from any thread.
///
/// - Of the refusals, and of the actions that every client may perform, a limited number in a second
///   has a record. See ``AuditThrottle``.
/// - Of the requests of an administrator that change nothing, the first has a record, within the same
///   limits. See ``AuditedReads``.
///
/// The numbers of the others are recorded when the time has ended, and by ``finish()``.
package final class AuditTrail: Sendable {
  /// The timer that records the numbers of suppressed records.
  private struct ReportTimer {
    weak var loop: (any EventLoop)?
    /// When it runs, in milliseconds; `nil` if it is not scheduled.
    var time: Int64?
    var work: (any ScheduledWork)?
  }

  private let sink: @Sendable (AuditRecord) -> Void
  private let now: @Sendable () -> Int64
  private let throttle = Locked(AuditThrottle())
  private let reads = Locked(AuditedReads())
  private let timer = Locked(ReportTimer())

  /// Creates a trail. `now` is the time in milliseconds.
  package init(
    now: @escaping @Sendable () -> Int64, _ sink: @escaping @Sendable (AuditRecord) -> Void
  ) {
    self.now = now
    self.sink = sink
  }

  /// Records the numbers of suppressed records on this loop from now on.
  func begin(on loop: any EventLoop) { timer.withLock { $0.loop = loop } }

  /// Records an action.
  package func record(_ record: AuditRecord) { sink(record) }

  /// Records a refusal, or an action that every client may perform, unless there are too many such
  /// records in this second. `target` is the URI, the page or the client that the record is
  /// about, and is evaluated only if there is a record.
  package func recordThrottled(
    _ record: AuditRecord, about target: @autoclosure () -> String? = nil
  ) {
    guard passesThrottle(record, at: now()) else { return }
    var record = record
    if let target = target() { record.target = AuditRecord.target(of: target) }
    sink(record)
  }

  private func passesThrottle(_ record: AuditRecord, isRead: Bool = false, at time: Int64) -> Bool {
    let decision = throttle.withLock { $0.decide(record, isRead: isRead, at: time) }
    decision.suppressed.forEach(sink)
    if !decision.isRecorded { scheduleReport(at: time + 1000) }
    return decision.isRecorded
  }

  /// Records a request of an administrator that changes nothing, unless a record about the same is
  /// less than an hour old.
  func recordRead(_ record: AuditRecord) {
    let code: Int? = if case .failed(let code) = record.result { code } else { nil }
    let client = AuditedClient(record.client)
    let read = AuditedReads.Read(
      client: client, network: client.network(of: record.client), method: record.action,
      target: record.target.map(UTF8Key.init), code: code)
    let time = now()
    let (isRecorded, forgotten) = reads.withLock { $0.decide(read, at: time) }
    if let forgotten { self.record([forgotten]) }
    if !isRecorded {
      scheduleReport(at: time + AuditedReads.windowLength)
    } else if passesThrottle(record, isRead: true, at: time) {
      sink(record)
    }
  }

  /// Records all numbers of suppressed records. Call it when the server ends.
  package func finish() {
    timer.withLock { timer in
      timer.work?.cancel()
      timer = ReportTimer()
    }
    throttle.withLock { $0.removeAll() }.forEach(sink)
    record(reads.withLock { $0.removeAll() })
  }
}

// Suppressed records.
extension AuditTrail {
  private func record(_ counts: [AuditedReads.SuppressedReads]) {
    for suppressed in counts {
      let read = suppressed.read
      sink(
        AuditRecord(
          client: read.client.eventClient(network: read.network), action: read.method,
          target: read.target?.text,
          result: .suppressed(count: suppressed.count, rule: nil)))
    }
  }

  /// Reports numbers at a time, or before.
  private func scheduleReport(at time: Int64) {
    timer.withLock { timer in
      if let scheduled = timer.time, scheduled <= time { return }
      guard let loop = timer.loop else { return }
      timer.work?.cancel()
      timer.time = time
      // The clock may be set at any time.
      let delay = min(max(time - now(), 1), AuditedReads.windowLength)
      timer.work = loop.schedule(after: .milliseconds(delay)) { [weak self] in self?.report() }
    }
  }

  /// Records the numbers of suppressed records whose time has ended.
  private func report() {
    timer.withLock { ($0.time, $0.work) = (nil, nil) }
    let time = now()
    throttle.withLock { $0.removeEnded(at: time) }.forEach(sink)
    record(reads.withLock { $0.report(at: time) })
    let next = [throttle.withLock { $0.nextReport }, reads.withLock { $0.nextReport }]
      .compactMap(\.self).min()
    // Many windows may end one after another; each report goes through all of them.
    if let next { scheduleReport(at: max(next, time + 1000)) }
  }
}
