import DequeModule

/// The connections whose clients are not authenticated yet, in the order in which they were
/// accepted, or have lost the client that was.
struct UnadmittedConnections {
  private struct OrderedConnection {
    let id: UInt64
    let number: UInt64
  }

  private var order: Deque<OrderedConnection> = []
  /// The number of each connection: one that was removed may be added again.
  private var numbers: [UInt64: UInt64] = [:]
  private var lastNumber: UInt64 = 0

  var count: Int { numbers.count }

  /// Adds a connection behind all others.
  mutating func insert(_ id: UInt64) {
    lastNumber += 1
    numbers[id] = lastNumber
    order.append(OrderedConnection(id: id, number: lastNumber))
    // The removed ones are still in `order`.
    if order.count > 2 * numbers.count + 64 {
      order.removeAll { numbers[$0.id] != $0.number }
    }
  }

  mutating func remove(_ id: UInt64) { numbers[id] = nil }

  /// Removes the first connection that meets a condition.
  mutating func removeFirst(where isWanted: (UInt64) -> Bool) -> UInt64? {
    let first = order.first { numbers[$0.id] == $0.number && isWanted($0.id) }
    guard let first else { return nil }
    numbers[first.id] = nil
    return first.id
  }
}
