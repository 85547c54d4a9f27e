import Synchronization

/// How often a token was refused. Only the loop writes; any thread may read.
package final class RefusedTokens: Sendable {
  /// So many in one connection close it.
  static let maxInConnection = 10

  /// Of `session.open`'s `token`.
  package let own = Atomic(0)
  /// Of `session.open`'s `join`.
  package let join = Atomic(0)

  init() {}

  /// Counts one; `joins` where it was to join a session.
  func add(joins: Bool) {
    if joins { join.add(1) } else { own.add(1) }
  }
}
