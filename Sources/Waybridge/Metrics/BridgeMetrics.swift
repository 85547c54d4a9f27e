import WaySession

/// What a bridge tells of itself.
struct BridgeMetrics: Sendable {
  let bridge: Bridge

  /// All families as they are now. Call on the bridge's loop.
  func families() -> [MetricFamily] {
    held(bridge.assumeIsolated { $0.census() }) + calls(bridge.meter.counts)
  }

  private func held(_ census: Census) -> [MetricFamily] {
    [
      MetricFamily("waybridge_sessions", .gauge, "Open sessions.", value: census.sessions),
      MetricFamily("waybridge_clients", .gauge, "Members of sessions.", value: census.clients),
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
    ]
  }

  private func calls(_ counts: [MethodCounts]) -> [MetricFamily] {
    var calls = MetricFamily(
      "waybridge_calls_total", .counter,
      "Calls of clients that have ended, by method and outcome.")
    var durations = MetricFamily(
      "waybridge_call_duration_seconds", .histogram,
      "Time from the arrival of a call to its answer.")
    for entry in counts {
      for (outcome, count) in entry.outcomes {
        calls.add(count, ("method", entry.method), ("outcome", outcome))
      }
      durations.add(entry.durations, ("method", entry.method))
    }
    return [calls, durations]
  }
}
