import WayRouting

/// The kind of a walk over the sessions of a loop.
enum SessionWalkKind {
  /// It only reads.
  case read
  /// It may send messages to their clients.
  case send
  /// It starts a task in each session, which runs later in the turn.
  case startTask

  /// The least time that a visit counts as, in nanoseconds. Messages are written at the end of the
  /// turn, which takes about this time for each client.
  fileprivate var visitCost: UInt64 {
    switch self {
    case .read: 0
    case .send: 10_000
    case .startTask: 40_000
    }
  }
}

// Walks over sessions. Nothing else visits all of them, because that would take too long for one
// turn of the loop.
extension LoopSessions {
  /// Visits every session, in several turns of the loop. A session that ends before its turn is
  /// left out, and so is one that is added after the first visit.
  func forEachSession(_ kind: SessionWalkKind, _ visit: (Session) -> Void) async {
    await visitAll(kind) {
      visit($0)
      return true
    }
  }

  /// Visits every session in the same way. Stops if `visit` returns false or, unless it
  /// `ignoresCancellation`, if the task is cancelled.
  private func visitAll(
    _ kind: SessionWalkKind, ignoresCancellation: Bool = true, while visit: (Session) -> Bool
  ) async {
    // Made at the first visit: the walk may have to wait for others.
    var position: SessionRegistry<Session>.Position?
    _ = await scheduler.walk(cost: kind.visitCost, ignoresCancellation: ignoresCancellation) {
      var next = position ?? sessions.start
      guard let session = sessions.next(&next) else { return false }
      position = next
      return visit(session)
    }
  }

  /// Visits the sessions of an audience as ``forEachSession(_:_:)`` does, each with the name of the
  /// client that the audience names, if it names one. The session of an HTTP request is in no
  /// audience. Stops if `visit` returns false or, unless it `ignoresCancellation`, if the task is
  /// cancelled.
  func visitSessions(
    in audience: Audience, _ kind: SessionWalkKind, ignoresCancellation: Bool = false,
    while visit: (Session, String?) -> Bool
  ) async {
    if audience.isSingleSession {
      if ignoresCancellation || !Task.isCancelled, let (session, client) = target(of: audience) {
        _ = visit(session, client)
      }
      return
    }
    if case .all = audience {
      return await visitAll(kind, ignoresCancellation: ignoresCancellation) { session in
        session.isOfRequest || visit(session, nil)
      }
    }
    var ids = audiences.sessions(in: audience).makeIterator()
    _ = await scheduler.walk(cost: kind.visitCost, ignoresCancellation: ignoresCancellation) {
      guard let id = ids.next() else { return false }
      // It may have left the audience since the walk began.
      guard let session = sessions[id], audiences.contains(id, in: audience) else { return true }
      return session.isOfRequest || visit(session, nil)
    }
  }

  /// Visits all sessions of an audience, in the same way.
  func forEachSession(
    in audience: Audience, _ kind: SessionWalkKind, ignoresCancellation: Bool = false,
    _ visit: (Session, String?) -> Void
  ) async {
    await visitSessions(in: audience, kind, ignoresCancellation: ignoresCancellation) {
      visit($0, $1)
      return true
    }
  }

  /// Visits every session in one turn of the loop, however long that takes: for a change that has to
  /// be complete before any other message is handled or sent.
  func forEachSessionAtOnce(_ visit: (Session) -> Void) {
    var position = sessions.start
    while let session = sessions.next(&position) { visit(session) }
  }

  /// Calls `visit` until it returns false, in the turns of a walk.
  func forEach(_ kind: SessionWalkKind, while visit: () -> Bool) async {
    _ = await scheduler.walk(cost: kind.visitCost, ignoresCancellation: true, visit)
  }

  /// Whether a session fulfils a condition.
  func containsSession(where condition: (Session) -> Bool) async -> Bool {
    var isFound = false
    await visitAll(.read) { session in
      isFound = condition(session)
      return !isFound
    }
    return isFound
  }

  /// The session that an audience names, and the name of its client if the audience names one; nil
  /// if there is no such session.
  func target(of audience: Audience) -> (session: Session, client: String?)? {
    guard let id = audience.session, let session = sessions[id], !session.isOfRequest else {
      return nil
    }
    if case .client(let name, session: _) = audience { return (session, name) }
    return (session, nil)
  }
}
