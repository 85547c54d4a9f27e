import Synchronization
import WaySession
import WaySockets
import WayTable

/// What a bridge tells of itself.
struct BridgeMetrics: Sendable {
  let hub: SessionHub
  let server: SocketServer
  let lag: LagProbe
  /// The route table that may change; nil where there is none.
  var liveTable: LiveTable?

  /// All families as they are now. Call on the bridge's loop.
  func families() -> [MetricFamily] {
    held(hub.assumeIsolated { $0.census() }) + kept + table + calls(hub.meter.counts)
      + sockets(server.statistics) + [loopLag]
  }

  private func held(_ census: Census) -> [MetricFamily] {
    [
      MetricFamily("waybridge_sessions", .gauge, "Open sessions.", value: census.sessions),
      MetricFamily("waybridge_clients", .gauge, "Members of sessions.", value: census.clients),
      MetricFamily(
        "waybridge_absent_clients", .gauge,
        "Members whose connection was lost, and that may resume.", value: census.absentClients),
      MetricFamily(
        "waybridge_outbox_bytes", .gauge,
        "Bytes that clients were sent and have not acknowledged, or that wait for them.",
        value: hub.resumables.bytes),
      MetricFamily(
        "waybridge_given_up_clients_total", .counter,
        "Clients that could not resume any more, since too much waited for them.",
        value: hub.resumables.givenUpCount),
      MetricFamily(
        "waybridge_hosts", .gauge, "Declarations of what clients show or run.",
        value: census.hosts),
      MetricFamily("waybridge_pages", .gauge, "Pages on stacks.", value: census.pages),
      MetricFamily(
        "waybridge_calls_in_flight", .gauge, "Calls that are not answered yet.",
        value: census.callsInFlight),
      MetricFamily(
        "waybridge_pending_requests", .gauge, "Requests to clients that are not answered yet.",
        value: census.pendingRequests),
      MetricFamily(
        "waybridge_kept_bytes", .gauge,
        "Bytes that are kept for clients: calls, patterns, links and pages.",
        value: hub.budget.used),
      refusedTokens,
    ]
  }

  /// What the store is given; nothing where there is none.
  private var kept: [MetricFamily] {
    guard let writer = hub.writer else { return [] }
    return [
      MetricFamily(
        "waybridge_store_degraded", .gauge,
        "1 while sessions are not kept, since the store takes nothing.",
        value: writer.failure == nil ? 0 : 1),
      MetricFamily(
        "waybridge_store_appends_total", .counter, "Transactions that the store was given.",
        value: writer.writes.appends),
      MetricFamily(
        "waybridge_store_changes_total", .counter, "Changes of sessions in them.",
        value: writer.writes.changes),
    ]
  }

  /// The route table, and who serves it.
  private var table: [MetricFamily] {
    let found = hub.assumeIsolated { $0.lastRecheck }
    var compared = MetricFamily(
      "waybridge_table_recheck", .gauge,
      "Routes that wait for a host and have none (unserved), routes of code that the table does not "
        + "have (undeclared), handlers whose route is gone (handlers), and hosts that no route means "
        + "(hosts); looked at every 10 seconds.")
    for (kind, count) in [
      ("unserved", found.unserved.count), ("undeclared", found.undeclared.count),
      ("handlers", found.handlers.count), ("hosts", found.hosts.count),
    ] {
      compared.add(count, ("kind", kind))
    }
    guard let counts = liveTable?.counts else { return [compared] }
    var changes = MetricFamily(
      "waybridge_table_changes_total", .counter, "Tables that came into force, by their cause.")
    for (cause, count) in counts.byCause { changes.add(count, ("cause", cause.rawValue)) }
    return [
      compared, changes,
      MetricFamily(
        "waybridge_table_refusals_total", .counter, "Tables and changes that were refused.",
        value: counts.refusals.load(ordering: .relaxed)),
    ]
  }

  private var refusedTokens: MetricFamily {
    var family = MetricFamily(
      "waybridge_refused_tokens_total", .counter, "Tokens of session.open that were refused.")
    family.add(hub.refusedTokens.own.load(ordering: .relaxed), ("kind", "token"))
    family.add(hub.refusedTokens.join.load(ordering: .relaxed), ("kind", "join"))
    return family
  }

  private func calls(_ counts: [MethodCounts]) -> [MetricFamily] {
    var calls = MetricFamily(
      "waybridge_calls_total", .counter,
      "Calls of clients that have ended, by method and outcome.")
    var durations = MetricFamily(
      Self.duration, .histogram, "Time from the arrival of a call to its answer.")
    for entry in counts {
      for (outcome, count) in entry.outcomes {
        calls.add(count, ("method", entry.method), ("outcome", outcome))
      }
      durations.add(entry.durations, [("method", entry.method)])
    }
    return [calls, durations]
  }

  static let duration = "waybridge_call_duration_seconds"

  private func sockets(_ statistics: SocketStatistics) -> [MetricFamily] {
    let traffic = statistics.traffic
    var messages = MetricFamily("waybridge_messages_total", .counter, "WebSocket messages.")
    messages.add(traffic.messagesReceived.load(ordering: .relaxed), ("direction", "in"))
    messages.add(traffic.messagesSent.load(ordering: .relaxed), ("direction", "out"))
    var bytes = MetricFamily(
      "waybridge_bytes_total", .counter, "Bytes of WebSocket messages, without their frames.")
    bytes.add(traffic.bytesReceived.load(ordering: .relaxed), ("direction", "in"))
    bytes.add(traffic.bytesSent.load(ordering: .relaxed), ("direction", "out"))
    var closes = MetricFamily(
      "waybridge_closes_total", .counter,
      "WebSocket connections that have ended, by close code; 1006 is none.")
    for (code, count) in traffic.closes.sorted(by: { $0.key < $1.key }) {
      closes.add(count, ("code", code == 0 ? "other" : "\(code)"))
    }
    var refusals = MetricFamily(
      "waybridge_refusals_total", .counter,
      "HTTP requests that were refused, handshakes among them, by why.")
    let refused = traffic.refusals
    for kind in RefusalKind.allCases { refusals.add(refused[kind] ?? 0, ("reason", kind.rawValue)) }
    return [
      MetricFamily(
        "waybridge_connections", .gauge, "Open WebSocket connections.",
        value: statistics.connections),
      MetricFamily(
        "waybridge_queue_bytes", .gauge,
        "Bytes of memory that hold what waits to be sent to clients.",
        value: statistics.queuedBytes),
      MetricFamily(
        "waybridge_queue_limit_bytes", .gauge, "Bytes of memory that may hold it.",
        value: statistics.queueLimit),
      messages, bytes, closes, refusals,
    ]
  }

  private var loopLag: MetricFamily {
    var family = MetricFamily(
      "waybridge_loop_lag_seconds", .histogram, "By how much a timer of the loop was late.")
    family.add(lag.counts)
    return family
  }
}
