import WayRouting
import WayValues

/// What becomes of the calls of a session when its server is about to end, and when it ends.
enum Draining {
  /// The server is about to end, at `time` in milliseconds since 1970-01-01 UTC: calls under way go
  /// on, no others begin, and each client is told.
  static func begin(until time: Int64, in session: isolated Session) {
    session.beginDraining()
    for client in session.members.all {
      session.happenings.tell(.serverDraining, ["until": .integer(time)], to: client)
    }
  }

  /// Whether a client that is there waits for a call; not for a page that is shown, where that stays
  /// when the server is there again.
  static func hasCallsToFinish(_ session: isolated Session) -> Bool {
    session.clientCalls.contains { call in
      guard call.caller.client?.isAbsent == false else { return false }
      return !goesOn(call, in: session) || !waitsForPage(call, in: session)
    }
  }

  /// The server ends: what clients wait for is answered, and nothing new begins to wait. What Swift
  /// code waits for ends with the session.
  static func end(_ session: isolated Session) {
    session.stopCalls()
    let calls = session.clientCalls.sorted { $0.number < $1.number }
    for call in calls where session.call(call.number) != nil && !goesOn(call, in: session) {
      session.stop(
        call.number, hasBegun(call, in: session) ? .serverEnds : .serverEndsBefore)
    }
  }

  private static func hasBegun(_ call: CallInFlight, in session: isolated Session) -> Bool {
    switch call.work {
    case .none: false
    case .operation: !session.pages.isWaiting(call.number)
    case .task, .request, .errand, .page, .key: true
    }
  }

  /// Whether a call goes on when the server is there again.
  private static func goesOn(_ call: CallInFlight, in session: isolated Session) -> Bool {
    session.isKept && call.caller.client?.isResumable == true
      && (call.key != nil || waitsForPage(call, in: session))
  }

  private static func waitsForPage(_ call: CallInFlight, in session: isolated Session) -> Bool {
    switch call.work {
    case .page: true
    case .key(let name): session.keys.page(of: name) != nil
    case .none, .task, .request, .errand, .operation: false
    }
  }
}
