/// The memory that all connections of a server on one loop may use for one purpose.
final class SocketMemoryBudget: @unchecked Sendable {  // confined to its loop
  let limit: Int
  var used = 0
  private var arrivals: UInt64 = 0
  /// Called with the required number of bytes if they are not free.
  var makeRoom: ((Int) -> Void)?

  init(limit: Int = .max) {
    self.limit = limit
  }

  /// Frees `size` bytes if possible.
  func reserve(_ size: Int) {
    if used + size > limit { makeRoom?(size) }
  }

  /// Numbers what is charged, in order.
  func nextArrival() -> UInt64 {
    arrivals += 1
    return arrivals
  }

  func hasRoom(_ size: Int) -> Bool { used + size <= limit }
}
