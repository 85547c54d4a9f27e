/// Counts of what a bridge holds now.
package struct SessionTotals: Sendable, Hashable {
  package var sessions = 0
  package var clients = 0
  /// Those of the clients that have lost their connection and may resume.
  package var absentClients = 0
  /// Registered hosts.
  package var hosts = 0
  /// Pages on the stacks of all sessions.
  package var pages = 0
  /// Calls without a response yet, including those of the app.
  package var callsInFlight = 0
  /// Requests to clients without a response yet.
  package var pendingRequests = 0

  package init() {}

  package static func += (all: inout SessionTotals, part: SessionTotals) {
    all.sessions += part.sessions
    all.clients += part.clients
    all.absentClients += part.absentClients
    all.hosts += part.hosts
    all.pages += part.pages
    all.callsInFlight += part.callsInFlight
    all.pendingRequests += part.pendingRequests
  }
}

extension LoopSessions {
  /// Counts the current state.
  package func totals() async -> SessionTotals {
    var totals = SessionTotals()
    await forEachSession(.read) { session in
      session.assumeIsolated { $0.count(into: &totals) }
    }
    return totals
  }
}

extension Session {
  fileprivate func count(into totals: inout SessionTotals) {
    totals.sessions += 1
    totals.clients += clients.count
    totals.absentClients += clients.all.count(where: \.isDisconnected)
    totals.hosts += resolver.hosts.count
    totals.pages += pages.count
    totals.callsInFlight += calls.count
    for client in clients.all { totals.pendingRequests += client.pending.count }
  }
}
