/// The memory budget of unsent data, for all connections of a server on one loop.
final class SocketQueueBudget: @unchecked Sendable {  // confined to its loop
  let limit: Int
  var used = 0
  /// Called with the required number of bytes if they are not free.
  var makeRoom: ((Int) -> Void)?

  init(limit: Int = .max) {
    self.limit = limit
  }

  /// Frees `size` bytes if possible.
  func reserve(_ size: Int) {
    if used + size > limit { makeRoom?(size) }
  }

  func hasRoom(_ size: Int) -> Bool { used + size <= limit }
}
