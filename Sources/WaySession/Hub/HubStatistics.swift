import WayRouting

/// What a hub holds now, and what it has counted.
package struct HubStatistics: Sendable {
  package let census: SessionTotals
  /// Calls of clients that have ended.
  package let calls: Int
  /// Bytes that clients were sent and have not acknowledged, or that wait for them.
  package let outboxBytes: Int
  /// Clients that could not resume any more, since too much waited for them.
  package let givenUpClients: Int
  /// Tokens of `session.open` that were refused.
  package let refusedTokens: (own: Int, join: Int)
  /// What the store was given; nil where there is none.
  package let storeWrites: (appends: Int, changes: Int)?
}

extension LoopSessions {
  fileprivate var statistics: HubStatistics {
    HubStatistics(
      census: census(),
      calls: meter.counts.reduce(0) { $1.outcomes.reduce($0) { $0 + $1.count } },
      outboxBytes: resumables.bytes, givenUpClients: resumables.givenUpCount,
      refusedTokens: (
        refusedTokens.own.load(ordering: .relaxed), refusedTokens.join.load(ordering: .relaxed)
      ), storeWrites: writer?.writes)
  }
}

extension SessionServer {
  /// Of each hub, in the order of their loops.
  package func statistics() async -> [HubStatistics] {
    var statistics: [HubStatistics] = []
    for hub in hubs { statistics.append(await hub.statistics) }
    return statistics
  }
}
