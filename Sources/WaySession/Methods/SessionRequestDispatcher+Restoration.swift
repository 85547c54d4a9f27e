import WayRPC
import WayRouting
import WayValues

extension SessionRequestDispatcher {
  /// Resumes the calls of a restored client. Calls that wait for pages continue, and those with an
  /// idempotency key are made again. The others fail, since their outcome is not known.
  func resumeCalls(of restored: Session.RestoredClient, in session: isolated Session) {
    let client = restored.client
    // The session may have ended with a client before this one.
    guard session.clients[client.id] === client else { return }
    // No caller waits any more for the responses of its requests.
    for id in restored.state.abandonedRequests ?? [] {
      session.clientWriter.cancelRequest(id, client)
    }
    let unconfirmed = restored.state.unconfirmedResponses ?? []
    client.link.persistence.unconfirmedResponses = unconfirmed.map { ($0.id, $0.seq.value) }
    for call in restored.state.calls ?? [] {
      let batch = call.batch.flatMap { restored.batches[$0.value] }
      let position = call.position ?? 0
      // A client whose identity has expired may make the call again, when it has a new one.
      if let params = call.params, !client.rights.hasExpired(at: session.environment.now()) {
        let request = Request(id: call.id, method: call.method, params: params)
        retry(request, client, batch, position, in: session)
        continue
      }
      let handle = ReplyHandle(
        client: client, id: call.id, batch: batch, position: position,
        method: session.environment.meter.methodIndex(methods.find(call.method)?.place),
        isNotification: false)
      if let page = call.page, session.resumePageCall(for: page, handle, call.uri) { continue }
      session.respond(.lostAtRestart, to: handle)
    }
  }
}
