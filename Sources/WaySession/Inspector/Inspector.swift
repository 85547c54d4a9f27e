import WayRPC
import WayTransport
import WayValues

/// Records what happens on one loop, for clients that inspect the server. If no client inspects, a
/// call costs one check of a flag, and only the statistics of routes from earlier inspections are
/// kept.
///
/// Confined to its loop. The flags are read with every call without isolation checks.
final class Inspector: @unchecked Sendable {
  /// The kinds of session events that it records.
  private static let inspectedKinds: SessionEvent.EventKinds = [
    .session, .page, .host, .fault, .detail,
  ]

  private let loop: any EventLoop
  private let now: @Sendable () -> Int64
  private let alwaysTracesCalls: Bool
  @exclusivity(unchecked) private(set) var isActive = false
  /// Whether calls need traces.
  @exclusivity(unchecked) private(set) var tracesCalls: Bool
  private var subscriptions: [InspectorSubscription] = []
  /// The most recent records.
  private(set) var recentRecords = RecordRing()
  /// By route name; calls that match no declared route have the empty name.
  private(set) var routeMeters: [String: InspectedRouteMeter] = [:]
  private static let maxRoutes = 20_000
  /// When counting calls by route began, in milliseconds since 1970-01-01 UTC; nil if it has not
  /// begun.
  private(set) var since: Int64?
  /// The same moment by both clocks.
  private var clockOrigin: (wall: Int64, loop: UInt64) = (0, 0)
  private var timer: (any ScheduledWork)?
  /// Calls that have begun to wait and were not reported yet.
  private var unreportedCalls: [UnreportedCall] = []
  private static let maxUnreportedCalls = 500
  /// Limits the bytes of requests to clients that are kept until their responses arrive.
  private let retainedBytes = RetainedBytes(limit: 16 << 20)

  private struct UnreportedCall {
    let trace: CallTrace
    let session: String
    let client: String
    let makeRecord: (CallTrace) -> InspectorRecord
  }

  /// `alwaysTracesCalls` says whether calls need traces even if no client inspects.
  init(on loop: any EventLoop, now: @escaping @Sendable () -> Int64, alwaysTracesCalls: Bool) {
    self.loop = loop
    self.now = now
    self.alwaysTracesCalls = alwaysTracesCalls
    tracesCalls = alwaysTracesCalls
  }

  /// The kinds of session events that it needs now.
  var kinds: SessionEvent.EventKinds { isActive ? Self.inspectedKinds : [] }

  /// Adds a client's subscription; it replaces an earlier one of the same client.
  func subscribe(_ subscription: InspectorSubscription) {
    if let index = subscriptions.firstIndex(where: {
      $0.filter.client == subscription.filter.client
    }) {
      subscriptions[index].flush()
      subscriptions[index] = subscription
    } else {
      subscriptions.append(subscription)
    }
    guard !isActive else { return }
    isActive = true
    tracesCalls = true
    clockOrigin = (now(), loop.nanoseconds)
    since = since ?? clockOrigin.wall
  }

  /// The feed of a client; nil if it does not inspect.
  func feed(of client: String) -> InspectorFeed? {
    subscriptions.first { $0.filter.client == client }?.feed
  }

  /// Removes the subscription that sends to a feed.
  func unsubscribe(_ feed: InspectorFeed) {
    subscriptions.removeAll { $0.feed === feed }
    guard subscriptions.isEmpty, isActive else { return }
    isActive = false
    tracesCalls = alwaysTracesCalls
    timer?.cancel()
    timer = nil
    unreportedCalls = []
    recentRecords = RecordRing()
  }

  /// A time of the loop's clock as records have it: milliseconds since 1970-01-01 UTC.
  func timestamp(_ nanoseconds: UInt64) -> Value {
    let passed = Int64(bitPattern: nanoseconds &- clockOrigin.loop)
    return Value(Double(clockOrigin.wall) + (Double(passed) / 1e6 * 1000).rounded() / 1000)
  }

  /// Whether a subscription has room for one more record. If none has, the record counts as dropped
  /// for each subscription that matches it.
  private func hasRoom(for session: String, _ client: String?) -> Bool {
    if subscriptions.contains(where: { !$0.isFull }) { return true }
    countDropped(session, client)
    return false
  }

  private func countDropped(_ session: String, _ client: String?) {
    for index in subscriptions.indices where subscriptions[index].filter.matches(session, client) {
      subscriptions[index].countDropped()
    }
  }

  /// Counts a call of a route that has ended.
  func recordCall(_ route: String, code: Int, nanoseconds: UInt64) {
    guard routeMeters.count < Self.maxRoutes || routeMeters[route] != nil else { return }
    routeMeters[route, default: InspectedRouteMeter()].record(code: code, nanoseconds: nanoseconds)
  }

  /// Emits a record about a session and one of its clients. The record is only created if a
  /// subscription has room for it.
  func emit(_ session: String, _ client: String?, _ record: @autoclosure () -> InspectorRecord) {
    guard isActive, hasRoom(for: session, client) else { return }
    let record = record()
    recentRecords.add(record)
    for index in subscriptions.indices { subscriptions[index].add(record) }
    schedule()
  }

  /// Records a call that waits. It is reported if it still waits when the next batch is due.
  func recordWaiting(
    _ trace: CallTrace, _ session: String, _ client: String,
    _ record: @escaping (CallTrace) -> InspectorRecord
  ) {
    guard unreportedCalls.count < Self.maxUnreportedCalls else {
      return countDropped(session, client)
    }
    unreportedCalls.append(
      UnreportedCall(trace: trace, session: session, client: client, makeRecord: record))
    schedule()
  }

  /// Creates the trace of a request to a client, to be reported with its response.
  func traceRequest(_ id: RequestID, _ params: Value, for call: CallNumber?) -> RequestTrace {
    RequestTrace(
      id, params, bytes: params.jsonSize, for: call, at: loop.nanoseconds, in: retainedBytes)
  }

  private func schedule() {
    guard timer == nil else { return }
    timer = loop.schedule(after: InspectorFeed.interval) { [weak self] in
      guard let self else { return }
      timer = nil
      flush()
    }
  }

  private func flush() {
    let waiting = unreportedCalls.filter { !$0.trace.hasEnded }
    unreportedCalls = []
    for call in waiting { emit(call.session, call.client, call.makeRecord(call.trace)) }
    timer?.cancel()
    timer = nil
    for index in subscriptions.indices { subscriptions[index].flush() }
  }
}
