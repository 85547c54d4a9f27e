import WayRouting
import WayValues

/// Ends the calls of a session when its server drains and when it stops.
enum SessionShutdown {
  /// Starts draining: calls under way continue, new calls are rejected, and each client is
  /// notified.
  ///
  /// `time` is the end of the server, in milliseconds since 1970-01-01 UTC.
  static func begin(until time: Int64, in session: isolated Session) {
    session.advance(to: .draining)
    for client in session.clients.all {
      session.events.send(.serverDraining, ["until": .integer(time)], to: client)
    }
  }

  /// Whether a connected client waits for a call. A call that waits for a shown page does not count
  /// if the page stays after a restart.
  static func hasUnfinishedCalls(_ session: isolated Session) -> Bool {
    session.calls.ofClients.contains { call in
      guard call.caller.client?.isDisconnected == false else { return false }
      return !survivesRestart(call, in: session) || !waitsForPage(call, in: session)
    }
  }

  /// Ends the calls of clients, and rejects new ones, when the server stops. Calls of Swift code
  /// end with the session.
  static func end(_ session: isolated Session) {
    session.stopAcceptingCalls()
    let calls = session.calls.ofClients.sorted { $0.number < $1.number }
    for call in calls where session.call(call.number) != nil && !survivesRestart(call, in: session)
    {
      session.stop(
        call.number, isStarted(call, in: session) ? .serverShutdown : .serverShutdownBeforeStart)
    }
  }

  private static func isStarted(_ call: ActiveCall, in session: isolated Session) -> Bool {
    switch call.work {
    case .none: false
    case .operation: !session.pages.isQueued(call.number)
    case .task, .request, .remoteRequest, .page, .key: true
    }
  }

  /// Whether a call continues after a restart of the server.
  private static func survivesRestart(_ call: ActiveCall, in session: isolated Session) -> Bool {
    session.isPersisted && call.caller.client?.link.isResumable == true
      && (call.idempotencyKey != nil || waitsForPage(call, in: session))
  }

  private static func waitsForPage(_ call: ActiveCall, in session: isolated Session) -> Bool {
    switch call.work {
    case .page: true
    case .key(let name): session.idempotencyKeys.execution(of: name)?.page != nil
    case .none, .task, .request, .remoteRequest, .operation: false
    }
  }
}
