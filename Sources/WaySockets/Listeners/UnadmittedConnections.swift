import DequeModule

/// The connections whose clients are not authenticated yet, in the order in which they were
/// accepted.
struct UnadmittedConnections {
  private var order: Deque<UInt64> = []
  private var ids: Set<UInt64> = []

  var count: Int { ids.count }

  /// Adds a connection that was accepted after all others.
  mutating func insert(_ id: UInt64) {
    ids.insert(id)
    order.append(id)
    // The removed ones are still in `order`.
    if order.count > 2 * ids.count + 64 { order.removeAll { !ids.contains($0) } }
  }

  mutating func remove(_ id: UInt64) { ids.remove(id) }

  /// Removes the first connection that meets a condition.
  mutating func removeFirst(where isWanted: (UInt64) -> Bool) -> UInt64? {
    guard let id = order.first(where: { ids.contains($0) && isWanted($0) }) else { return nil }
    ids.remove(id)
    return id
  }
}
