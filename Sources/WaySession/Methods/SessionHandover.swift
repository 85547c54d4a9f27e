import WayRouting
import WayTransport
import WayValues

/// Hands a durable session over when its server shuts down while other servers continue. Calls in
/// progress end here, the next server performs later requests, and the clients reconnect to that
/// server.
enum SessionHandover {
  /// Starts the handover. No work begins in the session from now on.
  static func begin(_ session: isolated Session) {
    session.advance(to: .handingOver)
    for client in session.clients.all {
      session.environment.serverHosts.update(client, isDisconnected: true)
    }
  }

  /// Holds a request, which the next server performs.
  static func park(
    _ kind: CallKind, _ params: Params, _ handle: ReplyHandle, in session: isolated Session
  ) throws(CallError) -> CallDisposition {
    let call = try session.beginCall(.request(handle), kind, size: params.size)
    call.requestParams = params.value
    call.isParked = true
    return .later
  }

  /// Whether no work is in progress that would be lost.
  static func isReady(_ session: isolated Session) -> Bool {
    !session.calls.inOrder.contains(where: isActive)
      && !session.clients.all.contains { client in
        // It is unknown when a disconnected client returns.
        !client.isDisconnected
          && (client.calls.batch != nil
            || client.pending.all().contains { !$0.completion.purpose.isServerInitiated })
      }
  }

  private static func isActive(_ call: ActiveCall) -> Bool {
    if call.isParked { return false }
    switch call.work {
    // The call that performs the work of an idempotency key is a call of its own.
    case .key: return false
    case .page:
      // Swift code that waits for a page cannot wait on another server.
      if case .app = call.caller { return call.leadKey == nil }
      return false
    case .none, .task, .request, .remoteRequest, .operation: return true
    }
  }

  /// Releases the session: its clients reconnect to another server, and nothing happens in it here
  /// any more.
  static func release(_ session: isolated Session) {
    session.advance(to: .released)
    for client in session.clients.all {
      client.channel?.close(.drain, "the session moves to another server")
      client.link.disconnect(at: session.loop.nanoseconds)
      session.recordChange(client)
    }
    session.journal?.release()
  }
}
