/// How much a bridge holds now.
package struct SessionTotals: Sendable, Hashable {
  package var sessions = 0
  package var clients = 0
  /// Those among them whose connection was lost, and that may resume.
  package var absentClients = 0
  /// Declarations of what clients show or run.
  package var hosts = 0
  /// Pages on the stacks of all sessions.
  package var pages = 0
  /// Calls that are not answered yet, those of Swift code included.
  package var callsInFlight = 0
  /// Requests to clients that are not answered yet.
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
  /// Counts what there is now.
  package func census() -> SessionTotals {
    var census = SessionTotals()
    for session in sessions.values {
      session.assumeIsolated { $0.count(into: &census) }
    }
    return census
  }
}

extension Session {
  fileprivate func count(into census: inout SessionTotals) {
    census.sessions += 1
    census.clients += members.count
    census.absentClients += members.all.count(where: \.isAbsent)
    census.hosts += guide.hosts.count
    census.pages += pages.count
    census.callsInFlight += callCount
    for client in members.all { census.pendingRequests += client.pending.count }
  }
}
