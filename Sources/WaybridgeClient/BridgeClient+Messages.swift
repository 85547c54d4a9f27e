import WayRPC
import WayValues

extension BridgeClient: ClientConnectionDelegate {
  nonisolated func connectionOpened() {
    assumeIsolated { $0.sendSessionRequest() }
  }

  nonisolated func receive(_ message: Message) {
    assumeIsolated { $0.handle(message) }
  }

  nonisolated func connectionLost(_ end: ClientConnectionEnd, attempt: Int, delay: Duration) {
    assumeIsolated { client in
      client.stateStreams.publish(.waiting(end, attempt: attempt, delay: delay))
      client.scheduleCancellations()
    }
  }

  nonisolated func connectionEnded(_ end: ClientConnectionEnd, _ error: CallError?) {
    assumeIsolated { $0.settleAll(end, error) }
  }

  private func handle(_ message: Message) {
    switch message {
    case .response(let response): handle(response)
    case .notification(let notification): handle(notification)
    case .request(let request): handleRequest(request)
    case .invalid(let id, let error): sendResponse(id, .failure(error))
    }
  }

  private func handle(_ response: Response) {
    if case .null = response.id, case .failure(let error) = response.result {
      return handleUnreadableMessage(error)
    }
    pendingCalls.remove(response.id)?.settle(response.result)
  }

  /// Handles an error about a message whose id the server could not read. If the message has no
  /// number, the server has not received it: the client resumes with another one in its place.
  private func handleUnreadableMessage(_ error: CallError) {
    guard error.protocolCode == .parseError, connection.isNumbered else { return }
    if let number = error.data?["seq"]?.integer.flatMap(UInt64.init(exactly:)) {
      for (id, _) in pendingCalls.all(where: { $1.sequenceNumber == number }) {
        pendingCalls.remove(id)?.settle(.failure(error))
      }
      return
    }
    unreadableMessageError = error
    connection.drop(.gap, "the server could not read a message")
  }

  private func handle(_ notification: Notification) {
    let params = notification.params
    switch notification.method {
    case "$/progress":
      guard let id = params?["id"].flatMap(RequestID.init), let value = params?["value"] else {
        return
      }
      pendingCalls[id]?.receiveProgress(value)
    case "$/cancelRequest":
      guard let id = params?["id"].flatMap(RequestID.init) else { return }
      serverRequests[id]?.cancel()
    case "page.resume":
      if let params, let id = params["page"]?.string { resumePage(id, params) }
    case "event":
      if let event = Event(params) { eventStreams.deliver(event) }
    case let name:
      guard let method = methods[name] else { return }
      let call = MethodCall(method: name, params: params ?? .null)
      Task {
        assertIsolated()
        _ = try? await withTaskExecutorPreference(loop) { try await method(call) }
      }
    }
  }
}
