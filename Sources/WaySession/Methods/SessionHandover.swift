import WayRouting
import WayTransport
import WayValues

/// What becomes of a kept session whose server ends while others go on: what is under way ends here,
/// what comes meanwhile is done by the next server, and its clients go there.
enum SessionHandover {
  /// No work begins in it from now on.
  static func begin(_ session: isolated Session) {
    session.beginMoving()
    for client in session.members.all {
      session.environment.serverHosts.set(client, isAway: true)
    }
  }

  /// Keeps a request for the next server to carry out.
  static func park(
    _ entry: Entry, _ params: Params, _ address: ReplyHandle, in session: isolated Session
  ) throws(CallError) -> Reply {
    let call = try session.begin(.request(address), entry, size: params.size)
    call.request = params.value
    call.isParked = true
    return .later
  }

  /// Whether nothing is under way that would be lost.
  static func isReady(_ session: isolated Session) -> Bool {
    !session.allCalls.contains(where: isWorkedOn)
      && !session.members.all.contains { client in
        // Nobody knows when one comes back that is not there.
        !client.isAbsent
          && (client.batch != nil
            || client.pending.all().contains { !$0.completion.purpose.isOfServer })
      }
  }

  private static func isWorkedOn(_ call: CallInFlight) -> Bool {
    if call.isParked { return false }
    switch call.work {
    // The call that does the work of a key is one of its own.
    case .key: return false
    case .page:
      // Swift code that waits for a page cannot wait elsewhere.
      if case .swift = call.caller { return !call.isOfKey }
      return false
    case .none, .task, .request, .errand, .operation: return true
    }
  }

  /// Gives the session back: its clients go elsewhere, and nothing of it happens here any more.
  static func release(_ session: isolated Session) {
    session.wasReleased()
    for client in session.members.all {
      client.channel?.close(.drain, "the session moves to another server")
      client.disconnect(at: session.loop.nanoseconds)
      session.note(client)
    }
    session.journal?.release()
  }
}
