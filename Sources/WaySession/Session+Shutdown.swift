import WayRouting
import WayTransport
import WayValues

// The end of the server: the session drains, and ends its calls, or is handed over to another server
// if it is durable. Then the next server performs later requests, and the clients reconnect to it.
extension Session {
  /// Starts draining: calls under way continue, new calls are rejected, and each client is
  /// notified.
  ///
  /// `time` is the end of the server, in milliseconds since 1970-01-01 UTC.
  func beginDraining(until time: Int64) {
    advance(to: .draining)
    for client in clients.all {
      events.send(.serverDraining, ["until": .integer(time)], to: client)
    }
  }

  /// Whether a connected client waits for a call. A call that waits for a shown page does not count
  /// if the page stays after a restart.
  var hasUnfinishedCalls: Bool {
    calls.ofClients.contains { call in
      guard call.caller.client?.isDisconnected == false else { return false }
      return !survivesRestart(call) || !waitsForPage(call)
    }
  }

  /// Ends the calls of clients, and rejects new ones, when the server stops. Calls of Swift code
  /// end with the session.
  func endCalls() {
    stopAcceptingCalls()
    let ended = calls.ofClients.sorted { $0.number < $1.number }
    for call in ended where calls[call.number] != nil && !survivesRestart(call) {
      stop(call.number, isStarted(call) ? .serverShutdown : .serverShutdownBeforeStart)
    }
  }

  private func isStarted(_ call: ActiveCall) -> Bool {
    switch call.work {
    case .none, .gate: false
    case .operation: !pages.isQueued(call.number)
    case .task, .request, .remoteRequest, .page, .key: true
    }
  }

  /// Whether a call continues after a restart of the server.
  private func survivesRestart(_ call: ActiveCall) -> Bool {
    isPersisted && call.caller.client?.link.isResumable == true
      && (call.idempotencyKey != nil || waitsForPage(call))
  }

  private func waitsForPage(_ call: ActiveCall) -> Bool {
    switch call.work {
    case .page: true
    case .key(let name): idempotencyKeys.execution(of: name)?.page != nil
    case .none, .task, .request, .remoteRequest, .operation, .gate: false
    }
  }
}

// Handover.
extension Session {
  /// Starts the handover. No work begins in the session from now on.
  func beginHandover() {
    advance(to: .handingOver)
    for client in clients.all { environment.serverHosts.update(client, isDisconnected: true) }
  }

  /// Holds a request with these params, which the next server performs. `size` is the approximate
  /// memory that it uses, in bytes.
  func park(
    _ kind: CallKind, _ params: Value, size: Int, _ handle: ReplyHandle
  ) throws(CallError) -> CallDisposition {
    let call = try beginCall(.request(handle), kind, size: size)
    call.requestParams = params
    call.isParked = true
    return .later
  }

  /// Whether no work is in progress that a handover would lose.
  var isReadyForHandover: Bool {
    !calls.inOrder.contains { $0.wouldBeLost }
      && !clients.all.contains { client in
        // It is unknown when a disconnected client returns.
        !client.isDisconnected
          && (client.calls.batch != nil
            || client.pending.all().contains { !$0.completion.purpose.isServerInitiated })
      }
  }

  /// Releases the session: its clients reconnect to another server, and nothing happens in it here
  /// any more.
  func release() {
    advance(to: .released)
    for client in clients.all {
      client.channel?.close(.drain, "the session moves to another server")
      client.link.disconnect(at: loop.nanoseconds)
      recordChange(client)
    }
    journal?.release()
  }
}

extension ActiveCall {
  /// Whether a handover would lose the work on the call.
  fileprivate var wouldBeLost: Bool {
    if isParked { return false }
    switch work {
    // The call that performs the work of an idempotency key is a call of its own.
    case .key: return false
    // The next server makes the call of a key again.
    case .gate: return leadKey == nil
    case .page:
      // Swift code that waits for a page cannot wait on another server.
      if case .app(let caller) = caller { return caller.isSwiftCode }
      return false
    case .none, .task, .request, .remoteRequest, .operation: return true
    }
  }
}
