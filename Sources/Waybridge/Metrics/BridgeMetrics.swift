import Synchronization
import WayRouting
import WaySession
import WaySockets
import WayTable
import WayTransport

/// The metrics of a bridge.
struct BridgeMetrics: Sendable {
  let sessionServer: SessionServer
  let socketServer: SocketServer
  /// One probe for each loop, in their order.
  let lagProbes: [LoopLagMetrics]
  /// The route table if it can change; nil if there is none.
  var liveTable: LiveTable?
  /// The keys that verify tokens; nil if they are unknown.
  var tokenKeys: (any ReloadableKeys)?
  /// The pushes for the app's push service; nil without one.
  var awayPushes: AwayPushQueue?

  /// Returns all families with their current values.
  func families() async -> [MetricFamily] {
    let statistics = await sessionServer.statistics()
    let sockets = await socketServer.statistics()
    let admission = await socketServer.admissionStatistics()
    return [buildFamily] + policyFamilies + (await keyFamilies()) + sessionFamilies(statistics)
      + storeFamilies(statistics) + clusterFamilies + awayPushFamilies
      + (await tableFamilies()) + callFamilies(sessionServer.callCounts)
      + trafficFamilies(sockets) + admissionFamilies(admission)
      + loopFamilies(statistics, sockets)
  }

  private var buildFamily: MetricFamily {
    var family = MetricFamily(
      "waybridge_build_info", .gauge,
      "The version, commit and Swift version of the server; always 1.")
    family.add(
      1, ("version", BridgeServer.version), ("commit", BridgeServer.commit ?? "unknown"),
      ("swift", BuildInfo.swiftVersion))
    return family
  }

  private var policyFamilies: [MetricFamily] {
    let versions = sessionServer.policyVersions
    var policy = MetricFamily(
      "waybridge_policy_info", .gauge, "The hash of the policy in force; always 1.")
    policy.add(1, ("hash", versions.current))
    return [
      policy,
      MetricFamily(
        "waybridge_policy_refusals_total", .counter,
        "Contents of the policy's file that were rejected.",
        value: versions.rejections.load(ordering: .relaxed)),
    ]
  }

  /// The metrics of the keys; empty without keys.
  private func keyFamilies() async -> [MetricFamily] {
    guard let tokenKeys else { return [] }
    var keys = MetricFamily(
      "waybridge_keys_info", .gauge,
      "A hash of the keys in force, which does not reveal them; always 1.")
    keys.add(1, ("hash", await tokenKeys.hash))
    return [
      keys,
      MetricFamily(
        "waybridge_key_refusals_total", .counter,
        "Contents of key files and key sets that were rejected.",
        value: await tokenKeys.rejections),
      MetricFamily(
        "waybridge_key_fetch_failures_total", .counter,
        "Requests for the keys of an identity provider that brought no valid keys.",
        value: await tokenKeys.fetchFailures),
    ]
  }

  private func sessionFamilies(_ statistics: [SessionServerStatistics]) -> [MetricFamily] {
    var totals = SessionTotals()
    for loop in statistics { totals += loop.totals }
    return [
      MetricFamily("waybridge_sessions", .gauge, "Open sessions.", value: totals.sessions),
      MetricFamily("waybridge_clients", .gauge, "Clients of sessions.", value: totals.clients),
      MetricFamily(
        "waybridge_absent_clients", .gauge,
        "Clients whose connection was lost and that may resume.", value: totals.absentClients),
      MetricFamily(
        "waybridge_outbox_bytes", .gauge,
        "Bytes sent to clients and not acknowledged, or waiting for them.",
        value: statistics.sum(\.outboxBytes)),
      MetricFamily(
        "waybridge_given_up_clients_total", .counter,
        "Clients that could no longer resume because too much data waited for them.",
        value: statistics.sum(\.discardedClients)),
      MetricFamily(
        "waybridge_hosts", .gauge, "Hosts that clients have registered.",
        value: totals.hosts),
      MetricFamily("waybridge_pages", .gauge, "Pages on stacks.", value: totals.pages),
      MetricFamily(
        "waybridge_calls_in_flight", .gauge, "Calls without a response yet.",
        value: totals.callsInFlight),
      MetricFamily(
        "waybridge_pending_requests", .gauge, "Requests to clients without a response yet.",
        value: totals.pendingRequests),
      MetricFamily(
        "waybridge_kept_bytes", .gauge,
        "Bytes used for clients: calls, patterns, deep links and pages.",
        value: sessionServer.budget.used),
      rejectedTokenFamily(statistics),
    ]
  }

  /// The metrics of the store; empty without a store.
  private func storeFamilies(_ statistics: [SessionServerStatistics]) -> [MetricFamily] {
    guard statistics.contains(where: { $0.storeWrites != nil }) else { return [] }
    return [
      MetricFamily(
        "waybridge_store_degraded", .gauge,
        "1 while sessions are not persisted because the store cannot be written.",
        value: sessionServer.isDegraded ? 1 : 0),
      MetricFamily(
        "waybridge_store_appends_total", .counter, "Transactions written to the store.",
        value: statistics.sum { $0.storeWrites?.appends ?? 0 }),
      MetricFamily(
        "waybridge_store_changes_total", .counter, "Session changes in these transactions.",
        value: statistics.sum { $0.storeWrites?.changes ?? 0 }),
    ]
  }

  /// The metrics of the cluster; empty for a single server.
  private var clusterFamilies: [MetricFamily] {
    sessionServer.cluster.map { BridgeClusterMetrics(node: $0).families } ?? []
  }

  /// The metrics of the push service; empty without one.
  private var awayPushFamilies: [MetricFamily] {
    guard let awayPushes else { return [] }
    var family = MetricFamily(
      "waybridge_away_pushes_total", .counter,
      "Pushes that have reached no client with a connection: those that the push service receives "
        + "(accepted), and those for which its queue had no room (dropped).")
    family.add(awayPushes.accepted.load(ordering: .relaxed), ("result", "accepted"))
    family.add(awayPushes.dropped.load(ordering: .relaxed), ("result", "dropped"))
    return [family]
  }

  /// The metrics of the route table and of the handlers and hosts that serve it.
  private func tableFamilies() async -> [MetricFamily] {
    let audit = sessionServer.lastRouteAudit
    var compared = MetricFamily(
      "waybridge_table_recheck", .gauge,
      "Routes without a host (unserved), routes of code that are not in the table (undeclared), "
        + "handlers without a route (handlers), hosts without a route (hosts), and schemes whose "
        + "undefined target a host hides (undefined); checked every 10 seconds.")
    for (kind, count) in [
      ("unserved", audit.unserved.count), ("undeclared", audit.undeclared.count),
      ("handlers", audit.handlers.count), ("hosts", audit.hosts.count),
      ("undefined", audit.undefined.count),
    ] {
      compared.add(count, ("kind", kind))
    }
    guard let liveTable else { return [compared, invalidResultFamily] }
    let counts = liveTable.counts
    let stamp = await liveTable.stamp
    var table = MetricFamily(
      "waybridge_table_info", .gauge, "The version and hash of the table in force; always 1.")
    table.add(1, ("version", "\(stamp.version)"), ("hash", stamp.hash))
    var changes = MetricFamily(
      "waybridge_table_changes_total", .counter, "Tables that came into force, by cause.")
    for (cause, count) in counts.changesByCause { changes.add(count, ("cause", cause.rawValue)) }
    return [
      compared, invalidResultFamily, table, changes,
      MetricFamily(
        "waybridge_table_refusals_total", .counter, "Tables and changes that were rejected.",
        value: counts.rejections.load(ordering: .relaxed)),
    ]
  }

  private var invalidResultFamily: MetricFamily {
    var family = MetricFamily(
      "waybridge_invalid_results_total", .counter,
      "Results that did not fit the declaration of their route, by what has returned them.")
    let counts = sessionServer.invalidResults.withLock { $0 }
    for source in InvalidResult.ResultSource.allCases {
      family.add(counts[source] ?? 0, ("source", source.rawValue))
    }
    return family
  }

  private func rejectedTokenFamily(_ statistics: [SessionServerStatistics]) -> MetricFamily {
    var family = MetricFamily(
      "waybridge_refused_tokens_total", .counter, "Tokens of session.open that were rejected.")
    family.add(statistics.sum(\.rejectedTokens.own), ("kind", "token"))
    family.add(statistics.sum(\.rejectedTokens.join), ("kind", "join"))
    return family
  }

  private func callFamilies(_ counts: [MethodCounts]) -> [MetricFamily] {
    var calls = MetricFamily(
      "waybridge_calls_total", .counter,
      "Calls of clients that have ended, by method and outcome.")
    var durations = MetricFamily(
      Self.callDurationName, .histogram, "Time from the arrival of a call to its response.")
    for entry in counts {
      for (outcome, count) in entry.outcomes {
        calls.add(count, ("method", entry.method), ("outcome", outcome))
      }
      durations.add(entry.durations, [("method", entry.method)])
    }
    return [calls, durations]
  }

  static let callDurationName = "waybridge_call_duration_seconds"

  private func trafficFamilies(_ sockets: [SocketStatistics]) -> [MetricFamily] {
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
      "WebSocket connections that have ended, by close code; 1006 means without one.")
    let closed = sockets.reduce(into: [:]) { all, part in
      all.merge(part.traffic.closes, uniquingKeysWith: +)
    }
    for (code, count) in closed.sorted(by: { $0.key < $1.key }) {
      closes.add(count, ("code", code == 0 ? "other" : "\(code)"))
    }
    var streamEnds = MetricFamily(
      "waybridge_stream_ends_total", .counter,
      "Streamed HTTP responses that have ended, by the cause.")
    for end in HTTPStreamEnd.allCases where end != .notStarted {
      streamEnds.add(sum { $0.streamEnds[end] ?? 0 }, ("end", end.rawValue))
    }
    var refusals = MetricFamily(
      "waybridge_refusals_total", .counter,
      "HTTP requests that were rejected, including handshakes, by reason.")
    var handshakes = MetricFamily(
      "waybridge_refused_handshakes_total", .counter,
      "WebSocket handshakes that were rejected, by reason.")
    for kind in HTTPRejectionKind.allCases {
      refusals.add(sum { $0.rejections[kind] ?? 0 }, ("reason", kind.rawValue))
      handshakes.add(sum { $0.rejectedHandshakes[kind] ?? 0 }, ("reason", kind.rawValue))
    }
    return [
      MetricFamily(
        "waybridge_connections", .gauge, "Open WebSocket connections.",
        value: sockets.sum(\.connections)),
      MetricFamily(
        "waybridge_streams", .gauge, "Streamed HTTP responses that have not ended.",
        value: sockets.sum(\.streams)),
      MetricFamily(
        "waybridge_queue_bytes", .gauge,
        "Bytes of memory for data that waits to be sent to clients.",
        value: sockets.sum(\.queuedBytes)),
      MetricFamily(
        "waybridge_queue_limit_bytes", .gauge, "Limit of waybridge_queue_bytes.",
        value: sockets.sum(\.queueLimit)),
      MetricFamily(
        "waybridge_unfinished_bytes", .gauge,
        "Bytes of memory for messages of clients that are not complete, or wait for their turn.",
        value: sockets.sum(\.unfinishedBytes)),
      MetricFamily(
        "waybridge_unfinished_limit_bytes", .gauge, "Limit of waybridge_unfinished_bytes.",
        value: sockets.sum(\.unfinishedLimit)),
      messages, bytes, closes, streamEnds, refusals, handshakes,
    ]
  }

  private func admissionFamilies(_ admission: AdmissionStatistics) -> [MetricFamily] {
    var users = MetricFamily(
      "waybridge_user_refusals_total", .counter,
      "Connections and sessions that were rejected because of a limit of their user, by limit.")
    let refused = sessionServer.userQuotas.refused
    users.add(refused.connections, ("limit", "connections"))
    users.add(refused.rate, ("limit", "rate"))
    users.add(refused.sessions, ("limit", "sessions"))
    return [
      MetricFamily(
        "waybridge_unauthenticated_connections", .gauge,
        "Connections of any kind whose clients are not authenticated; 0 without authentication.",
        value: admission.unadmitted),
      MetricFamily(
        "waybridge_unauthenticated_limit_connections", .gauge,
        "Limit of waybridge_unauthenticated_connections.",
        value: sessionServer.configuration.limits.maxUnauthenticated),
      MetricFamily(
        "waybridge_reserved_connections", .gauge,
        "WebSocket connections of administrators beyond the limit of connections.",
        value: admission.reserved),
      users,
    ]
  }

  /// The metrics of each loop.
  private func loopFamilies(
    _ statistics: [SessionServerStatistics], _ sockets: [SocketStatistics]
  ) -> [MetricFamily] {
    var sessions = MetricFamily("waybridge_loop_sessions", .gauge, "Open sessions, by loop.")
    var connections = MetricFamily(
      "waybridge_loop_connections", .gauge, "Open WebSocket connections, by loop.")
    var calls = MetricFamily(
      "waybridge_loop_calls_total", .counter, "Calls of clients that have ended, by loop.")
    var lag = MetricFamily(
      "waybridge_loop_lag_seconds", .histogram, "Delay of a timer of an event loop, by loop.")
    for (number, loop) in statistics.enumerated() {
      sessions.add(loop.totals.sessions, ("loop", "\(number)"))
      calls.add(loop.calls, ("loop", "\(number)"))
    }
    for (number, part) in sockets.enumerated() {
      connections.add(part.connections, ("loop", "\(number)"))
    }
    for (number, probe) in lagProbes.enumerated() { lag.add(probe.counts, [("loop", "\(number)")]) }
    return [sessions, connections, calls, lag]
  }
}

extension Array {
  fileprivate func sum(_ count: (Element) -> Int) -> Int { reduce(0) { $0 + count($1) } }
}
