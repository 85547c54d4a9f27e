import Synchronization
import WaySession
import WaySockets
import WayTable

/// What a bridge tells of itself.
struct BridgeMetrics: Sendable {
  let group: SessionServer
  let server: SocketServer
  /// In the order of the loops.
  let lags: [LagProbe]
  /// The route table that may change; nil where there is none.
  var liveTable: LiveTable?

  /// All families as they are now.
  func families() async -> [MetricFamily] {
    let hubs = await group.statistics()
    let sockets = await server.statistics()
    return [build] + held(hubs) + kept(hubs) + cluster + table + calls(group.callCounts)
      + carried(sockets)
      + loops(hubs, sockets)
  }

  private var build: MetricFamily {
    var family = MetricFamily("waybridge_build_info", .gauge, "What serves; always 1.")
    family.add(
      1, ("version", BridgeServer.version), ("commit", BridgeServer.commit ?? "unknown"),
      ("swift", BuildInfo.swiftVersion))
    return family
  }

  private func held(_ hubs: [HubStatistics]) -> [MetricFamily] {
    var census = SessionTotals()
    for hub in hubs { census += hub.census }
    return [
      MetricFamily("waybridge_sessions", .gauge, "Open sessions.", value: census.sessions),
      MetricFamily("waybridge_clients", .gauge, "Members of sessions.", value: census.clients),
      MetricFamily(
        "waybridge_absent_clients", .gauge,
        "Members whose connection was lost, and that may resume.", value: census.absentClients),
      MetricFamily(
        "waybridge_outbox_bytes", .gauge,
        "Bytes that clients were sent and have not acknowledged, or that wait for them.",
        value: hubs.sum(\.outboxBytes)),
      MetricFamily(
        "waybridge_given_up_clients_total", .counter,
        "Clients that could not resume any more, since too much waited for them.",
        value: hubs.sum(\.givenUpClients)),
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
        value: group.budget.used),
      refusedTokens(hubs),
    ]
  }

  /// What the store is given; nothing where there is none.
  private func kept(_ hubs: [HubStatistics]) -> [MetricFamily] {
    guard hubs.contains(where: { $0.storeWrites != nil }) else { return [] }
    return [
      MetricFamily(
        "waybridge_store_degraded", .gauge,
        "1 while sessions are not kept, since the store takes nothing.",
        value: group.isDegraded ? 1 : 0),
      MetricFamily(
        "waybridge_store_appends_total", .counter, "Transactions that the store was given.",
        value: hubs.sum { $0.storeWrites?.appends ?? 0 }),
      MetricFamily(
        "waybridge_store_changes_total", .counter, "Changes of sessions in them.",
        value: hubs.sum { $0.storeWrites?.changes ?? 0 }),
    ]
  }

  /// This server among others; nothing for one alone.
  private var cluster: [MetricFamily] {
    group.cluster.map { ClusterMetrics(cluster: $0).families } ?? []
  }

  /// The route table, and who serves it.
  private var table: [MetricFamily] {
    let found = group.lastRecheck
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

  private func refusedTokens(_ hubs: [HubStatistics]) -> MetricFamily {
    var family = MetricFamily(
      "waybridge_refused_tokens_total", .counter, "Tokens of session.open that were refused.")
    family.add(hubs.sum(\.refusedTokens.own), ("kind", "token"))
    family.add(hubs.sum(\.refusedTokens.join), ("kind", "join"))
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

  private func carried(_ sockets: [SocketStatistics]) -> [MetricFamily] {
    func sum(_ count: (SocketTraffic) -> Int) -> Int { sockets.sum { count($0.traffic) } }
    var messages = MetricFamily("waybridge_messages_total", .counter, "WebSocket messages.")
    messages.add(sum { $0.messagesReceived.load(ordering: .relaxed) }, ("direction", "in"))
    messages.add(sum { $0.messagesSent.load(ordering: .relaxed) }, ("direction", "out"))
    var bytes = MetricFamily(
      "waybridge_bytes_total", .counter, "Bytes of WebSocket messages, without their frames.")
    bytes.add(sum { $0.bytesReceived.load(ordering: .relaxed) }, ("direction", "in"))
    bytes.add(sum { $0.bytesSent.load(ordering: .relaxed) }, ("direction", "out"))
    var closes = MetricFamily(
      "waybridge_closes_total", .counter,
      "WebSocket connections that have ended, by close code; 1006 is none.")
    let closed = sockets.reduce(into: [:]) { all, part in
      all.merge(part.traffic.closes, uniquingKeysWith: +)
    }
    for (code, count) in closed.sorted(by: { $0.key < $1.key }) {
      closes.add(count, ("code", code == 0 ? "other" : "\(code)"))
    }
    var refusals = MetricFamily(
      "waybridge_refusals_total", .counter,
      "HTTP requests that were refused, handshakes among them, by why.")
    var handshakes = MetricFamily(
      "waybridge_refused_handshakes_total", .counter,
      "WebSocket handshakes that were refused, by why.")
    for kind in RefusalKind.allCases {
      refusals.add(sum { $0.refusals[kind] ?? 0 }, ("reason", kind.rawValue))
      handshakes.add(sum { $0.refusedHandshakes[kind] ?? 0 }, ("reason", kind.rawValue))
    }
    return [
      MetricFamily(
        "waybridge_connections", .gauge, "Open WebSocket connections.",
        value: sockets.sum(\.connections)),
      MetricFamily(
        "waybridge_queue_bytes", .gauge,
        "Bytes of memory that hold what waits to be sent to clients.",
        value: sockets.sum(\.queuedBytes)),
      MetricFamily(
        "waybridge_queue_limit_bytes", .gauge, "Bytes of memory that may hold it.",
        value: sockets.sum(\.queueLimit)),
      messages, bytes, closes, refusals, handshakes,
    ]
  }

  /// What each loop has of it.
  private func loops(
    _ hubs: [HubStatistics], _ sockets: [SocketStatistics]
  ) -> [MetricFamily] {
    var sessions = MetricFamily("waybridge_loop_sessions", .gauge, "Open sessions, by loop.")
    var connections = MetricFamily(
      "waybridge_loop_connections", .gauge, "Open WebSocket connections, by loop.")
    var calls = MetricFamily(
      "waybridge_loop_calls_total", .counter, "Calls of clients that have ended, by loop.")
    var lag = MetricFamily(
      "waybridge_loop_lag_seconds", .histogram, "By how much a timer of a loop was late, by loop.")
    for (number, hub) in hubs.enumerated() {
      sessions.add(hub.census.sessions, ("loop", "\(number)"))
      calls.add(hub.calls, ("loop", "\(number)"))
    }
    for (number, part) in sockets.enumerated() {
      connections.add(part.connections, ("loop", "\(number)"))
    }
    for (number, probe) in lags.enumerated() { lag.add(probe.counts, [("loop", "\(number)")]) }
    return [sessions, connections, calls, lag]
  }
}

extension Array {
  fileprivate func sum(_ count: (Element) -> Int) -> Int { reduce(0) { $0 + count($1) } }
}
