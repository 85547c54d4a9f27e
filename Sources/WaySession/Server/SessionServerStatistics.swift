import WayRouting

/// The current state of one loop, and its counters.
package struct SessionServerStatistics: Sendable {
  package let totals: SessionTotals
  /// Calls of clients that have ended.
  package let calls: Int
  /// Bytes that were sent to clients and not acknowledged, or that wait for them.
  package let outboxBytes: Int
  /// Clients that could not resume any more, since too many bytes waited for them.
  package let discardedClients: Int
  /// Rejected tokens of `session.open`: for clients' own sessions, and for joining others.
  package let rejectedTokens: (own: Int, join: Int)
  /// What was written to the store; nil if there is none.
  package let storeWrites: (appends: Int, changes: Int)?
}

extension LoopSessions {
  fileprivate func statistics() async -> SessionServerStatistics {
    SessionServerStatistics(
      totals: await totals(),
      calls: meter.counts.reduce(0) { $1.outcomes.reduce($0) { $0 + $1.count } },
      outboxBytes: resumableClients.bytes, discardedClients: resumableClients.discardedCount,
      rejectedTokens: (
        rejectedTokens.sessionTokens.load(ordering: .relaxed),
        rejectedTokens.joinTokens.load(ordering: .relaxed)
      ), storeWrites: writer?.writes)
  }
}

extension SessionServer {
  /// The statistics of each loop, in the order of the loops.
  package func statistics() async -> [SessionServerStatistics] {
    var statistics: [SessionServerStatistics] = []
    for loopSessions in sessionsByLoop { statistics.append(await loopSessions.statistics()) }
    return statistics
  }
}
