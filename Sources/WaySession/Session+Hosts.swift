import WayRPC
import WayRouting
import WayValues

// The hosts of clients, and the requests to those that have lost their connections.
extension Session {
  /// Registers hosts of a client. If it throws, nothing has changed.
  func registerHosts(
    _ definitions: [SessionHostDefinition], by client: Client
  ) throws(CallError) {
    try client.rights.check(hosting: definitions)
    let snapshot = resolver.snapshot
    if try SessionHostDefinition.scope(of: definitions) == .server {
      try environment.serverHosts.register(definitions, for: client, of: self, router: snapshot)
    } else {
      try resolver.hosts.register(
        definitions, as: client.id, router: snapshot
      ) { bytes throws(CallError) in try client.charge(bytes) }
    }
    events.emit(
      .detail,
      .hostsChanged(
        client: client.name, hosts: resolver.hosts.definitions(of: client.id).map(\.value)),
      by: client.rights.caller)
    recordChange(client)
  }

  /// Moves requests that absent hosts have not acknowledged to connected hosts of the same URI. Call
  /// this when a client has lost its connection, and when hosts have become available.
  func moveRequestsOfAbsentHosts() {
    guard resolver.hosts.mayHaveAbsentHosts, !state.isClosing else { return }
    for client in clients.all where client.isDisconnected {
      for (id, request) in client.pending.all() where !client.hasAcknowledged(request) {
        move(id, request, from: client)
      }
    }
  }

  /// Withdraws the requests that an absent host did not receive, and whose callers have no rights any
  /// more. `received` is the number of the last message that the host has received. Call this before
  /// the host is connected.
  func withdrawEndedRequests(to client: Client, after received: UInt64) {
    for (id, request) in client.pending.all()
    where request.sequenceNumber == 0 || request.sequenceNumber > received {
      guard let rights = rights(servedBy: request), haveEnded(rights) else { continue }
      if withdraw(id, request, from: client, .rightsEnded) {
        forwardResponse(request, .failure(.noResponse(.rightsEnded)))
      }
    }
  }

  /// Ends a request that the host has not received. Returns false if it has ended already.
  private func withdraw(
    _ id: RequestID, _ request: PendingRequest, from client: Client, _ error: CallError
  ) -> Bool {
    guard client.pending.remove(id) != nil else { return false }
    request.settle()
    events.requestEnded(request, .failure(error), of: client)
    if !client.link.withdraw(id) { clientWriter.cancelRequest(id, client) }
    return true
  }

  private func move(_ id: RequestID, _ request: PendingRequest, from client: Client) {
    let number: CallNumber?
    switch request.purpose {
    case .run(let call) where request.requester == nil || request.requester === self: number = call
    case .open(let page): number = pages.call(openingOf: page)
    case .run, .push, .close, .leave: number = nil
    }
    let error = CallError(.hostAbsent, "The host has lost its connection; the next one is asked")
    guard let number, let call = call(number),
      call.resolution?.hasConnectedAlternative(in: resolver) == true,
      withdraw(id, request, from: client, error)
    else { return }
    if case .open(let page) = request.purpose {
      perform(pages.handleResponse(page, error, declined: true))
    } else {
      resumeDeclined(number)
    }
  }
}

extension Client {
  fileprivate func hasAcknowledged(_ request: PendingRequest) -> Bool {
    request.sequenceNumber > 0 && link.hasAcknowledged(request.sequenceNumber)
  }
}
