/// The stages of a session from its creation to its end. A session may skip stages, and never returns
/// to an earlier one.
enum SessionState: Comparable {
  /// Work of each kind begins.
  case active
  /// The server drains: no task or page begins, and calls in progress continue.
  case draining
  /// Another server is to continue the session: new requests wait for it, and calls in progress
  /// continue here.
  case handingOver
  /// No call may begin to wait. The session ends with its last client.
  case ending
  /// The last change is on its way to the store. No client can connect to the session here any more.
  case released
  /// The session belongs to another server, where what ends here continues.
  case moved

  /// Changes to a later stage. A session that has reached it already stays where it is.
  mutating func advance(to next: SessionState) { self = max(self, next) }

  /// Whether no new task or page may begin because the server drains. Later stages refuse them for
  /// other reasons.
  var isDraining: Bool { self == .draining }

  /// Whether another server is to handle new messages.
  var isHandingOver: Bool { self == .handingOver || self == .released }

  /// Whether no work may be given to another host any more.
  var isClosing: Bool { self >= .handingOver }

  /// Whether the session ends here: with its last client, or because another server continues it.
  var isEnding: Bool { self >= .ending }

  /// Whether new requests of clients fail. Those of a session that is handed over wait for its next
  /// owner, also when it is released.
  var rejectsRequests: Bool { isEnding && !isHandingOver }

  /// Whether the session is handed over, or belongs to another server.
  var isReleased: Bool { self >= .released }

  /// Whether the session belongs to another server.
  var hasMoved: Bool { self == .moved }
}
