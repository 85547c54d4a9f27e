/// The memory that what waits to be sent may take up, over all connections of a server.
final class SocketQueueBudget: @unchecked Sendable {  // confined to its loop
  let limit: Int
  var used = 0
  /// Is asked for so many bytes where they are not left.
  var makeRoom: ((Int) -> Void)?

  init(limit: Int = .max) {
    self.limit = limit
  }

  /// Sees that so many bytes are left, as far as it can be done.
  func reserve(_ size: Int) {
    if used + size > limit { makeRoom?(size) }
  }

  func isLeft(_ size: Int) -> Bool { used + size <= limit }
}
