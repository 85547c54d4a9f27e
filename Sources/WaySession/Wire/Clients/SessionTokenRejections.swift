import Synchronization

/// Counts rejected tokens. Only the loop writes; any thread may read.
package final class SessionTokenRejections: Sendable {
  /// The number of rejected tokens after which a connection is closed.
  static let maxPerConnection = 10

  /// Rejected `token` params of `session.open`.
  package let sessionTokens = Atomic(0)
  /// Rejected `join` params of `session.open`.
  package let joinTokens = Atomic(0)

  init() {}

  /// Counts one rejected token; `joins` is true if it was for joining a session.
  func add(joins: Bool) {
    if joins { joinTokens.add(1) } else { sessionTokens.add(1) }
  }
}
