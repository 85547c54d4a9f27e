import WayRPC
import WayRouting
import WayValues

/// Moves requests that absent hosts have not acknowledged to connected hosts of the same URI, or
/// withdraws them.
enum AbsentHostRequests {
  /// Call this when a client has lost its connection, and when hosts have become available.
  static func move(in session: isolated Session) {
    guard session.resolver.hosts.mayHaveAbsentHosts, !session.state.isClosing else { return }
    for client in session.clients.all where client.isDisconnected {
      for (id, request) in client.pending.all() where !hasAcknowledged(request, client) {
        move(id, request, from: client, in: session)
      }
    }
  }

  /// Withdraws the requests that an absent host did not receive, and whose callers have no rights any
  /// more. `received` is the number of the last message that the host has received. Call this before
  /// the host is connected.
  static func withdrawEnded(
    of client: Client, after received: UInt64, in session: isolated Session
  ) {
    for (id, request) in client.pending.all()
    where request.sequenceNumber == 0 || request.sequenceNumber > received {
      guard let rights = session.rights(servedBy: request), session.haveEnded(rights),
        client.pending.remove(id) != nil
      else { continue }
      request.settle()
      session.traceResult(request, .failure(.rightsEnded), of: client)
      withdraw(id, from: client, in: session)
      session.forwardResponse(request, .failure(.noResponse(.rightsEnded)))
    }
  }

  private static func withdraw(
    _ id: RequestID, from client: Client, in session: isolated Session
  ) {
    if !client.link.withdraw(id) {
      session.clientWriter.cancelRequest(id, client)
    }
  }

  private static func hasAcknowledged(_ request: PendingRequest, _ client: Client) -> Bool {
    request.sequenceNumber > 0 && client.link.hasAcknowledged(request.sequenceNumber)
  }

  private static func move(
    _ id: RequestID, _ request: PendingRequest, from client: Client, in session: isolated Session
  ) {
    let number: CallNumber?
    switch request.purpose {
    case .run(let call) where request.requester == nil || request.requester === session:
      number = call
    case .open(let page): number = session.pages.call(openingOf: page)
    case .run, .push, .close: number = nil
    }
    guard let number, let call = session.call(number),
      call.resolution?.hasConnectedAlternative(in: session.resolver) == true,
      client.pending.remove(id) != nil
    else { return }
    request.settle()
    let error = CallError(.hostAbsent, "The host has lost its connection; the next one is asked")
    session.traceResult(request, .failure(error), of: client)
    withdraw(id, from: client, in: session)
    if case .open(let page) = request.purpose {
      session.perform(session.pages.handleResponse(page, error, declined: true))
    } else {
      CallRunner.resumeDeclined(number, in: session)
    }
  }
}
