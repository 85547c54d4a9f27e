import WayTransport
import WayValues

/// Passes the audit records of a server to its sink. Changes by administrators always have a record.
/// Usable from any thread.
///
/// - Of the refusals of a client by one rule, and of other actions that every client may perform,
///   at most ten in a second have a record. See ``EventThrottle``.
/// - Of the requests of an administrator that change nothing, the first has a record. See
///   ``AuditedReads``.
///
/// The numbers of the others are recorded when the time has ended, and by ``finish()``.
package final class AuditTrail: Sendable {
  /// What a client was refused, or has done, that is counted together.
  private struct ThrottledAction: Hashable {
    /// The length of a name that is compared, in UTF-8 bytes.
    private static let maxLength = 64

    let action: String
    let method: UTF8Key?
    let rule: UTF8Key?
    /// The network of a user's client.
    let network: String?

    init(_ record: AuditRecord, of client: AuditedClient) {
      action = record.action
      let rule: String? = if case .refused(_, let rule, _) = record.result { rule } else { nil }
      method = record.method.map { UTF8Key($0.bounded(to: Self.maxLength)) }
      self.rule = rule.map { UTF8Key($0.bounded(to: Self.maxLength)) }
      network = client.network(of: record.client)
    }

    /// An action of any method, rule and network.
    private init(action: String) {
      self.action = action
      (method, rule, network) = (nil, nil, nil)
    }

    /// What is distinguished beyond the maximum: refusals do not hide invitations.
    static func summary(of throttled: ThrottledAction) -> ThrottledAction {
      ThrottledAction(action: throttled.action)
    }
  }

  private typealias ActionThrottle = EventThrottle<AuditedClient, ThrottledAction>

  /// The timer that records the numbers of suppressed records.
  private struct ReportTimer {
    weak var loop: (any EventLoop)?
    /// When it runs, in milliseconds; `nil` if it is not scheduled.
    var time: Int64?
    var work: (any ScheduledWork)?
  }

  private let sink: @Sendable (AuditRecord) -> Void
  private let now: @Sendable () -> Int64
  /// Clients that are not authenticated have a throttle of their own: they can have many addresses,
  /// and must not use up the keys of users.
  private let users = Locked(
    ActionThrottle(maxKeys: 1024, summarize: ThrottledAction.summary))
  private let strangers = Locked(ActionThrottle(summarize: ThrottledAction.summary))
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

  /// Records a refusal, or an action that every client may perform, unless the client has too many
  /// such records in this second. `target` is the URI, the page or the client that the record is
  /// about, and is evaluated only if there is a record.
  package func recordThrottled(
    _ record: AuditRecord, about target: @autoclosure () -> String? = nil
  ) {
    let client = AuditedClient(record.client)
    let throttle = client.user == nil ? strangers : users
    let time = now()
    let decision = throttle.withLock {
      $0.decide(client, ThrottledAction(record, of: client), at: time)
    }
    self.record(decision.suppressedCounts)
    guard decision.passes else { return scheduleReport(at: time + 1000) }
    var record = record
    if let target = target() { record.target = AuditRecord.target(of: target) }
    sink(record)
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
    if isRecorded {
      sink(record)
    } else {
      scheduleReport(at: time + AuditedReads.windowLength)
    }
  }

  /// Records all numbers of suppressed records. Call it when the server ends.
  package func finish() {
    timer.withLock { timer in
      timer.work?.cancel()
      timer = ReportTimer()
    }
    for throttle in [users, strangers] { record(throttle.withLock { $0.removeAll() }) }
    record(reads.withLock { $0.removeAll() })
  }
}

// Suppressed records.
extension AuditTrail {
  private func record(_ counts: [ActionThrottle.SuppressedCount]) {
    for suppressed in counts {
      let kind = suppressed.kind
      sink(
        AuditRecord(
          client: suppressed.key?.eventClient(network: kind?.network),
          action: kind?.action ?? AuditRecord.refusal, method: kind?.method?.text,
          result: .suppressed(count: suppressed.count, rule: kind?.rule?.text)))
    }
  }

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
    for throttle in [users, strangers] {
      record(throttle.withLock { $0.removeEnded(at: time) })
    }
    record(reads.withLock { $0.report(at: time) })
    let next = [
      users.withLock { $0.nextReport }, strangers.withLock { $0.nextReport },
      reads.withLock { $0.nextReport },
    ].compactMap(\.self).min()
    // Many windows may end one after another; each report goes through all of them.
    if let next { scheduleReport(at: max(next, time + 1000)) }
  }
}
