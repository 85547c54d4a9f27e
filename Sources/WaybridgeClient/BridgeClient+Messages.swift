import WayRPC
import WayTransport

extension BridgeClient: MessageReceiver {
  package nonisolated func receive(_ message: RawSpan, as kind: MessageKind) {
    assumeIsolated { client in
      switch client.decoder.decode(message) {
      case .message(let message): client.take(message)
      case .batch(let messages): for message in messages { client.take(message) }
      case .malformed: client.channel?.close(.notJSONRPC, "The server sent what is not JSON-RPC")
      }
    }
  }

  package nonisolated func closed(_ code: UInt16?) {
    assumeIsolated { $0.connectionEnded(code) }
  }

  private func take(_ message: Message) {
    switch message {
    case .response(let response): pending.take(response.id)?.settle(response.result)
    case .notification(let notification): take(notification)
    case .request(let request): serve(request)
    case .invalid(let id, let error): answer(id, .failure(error))
    }
  }

  private func take(_ notification: Notification) {
    let params = notification.params
    switch notification.method {
    case "$/progress":
      guard let id = params?["id"].flatMap(RequestID.init), let value = params?["value"] else {
        return
      }
      pending[id]?.progress(value)
    case "$/cancelRequest":
      guard let id = params?["id"].flatMap(RequestID.init) else { return }
      serving[id]?.cancel()
    case "page.resume":
      if let id = params?["page"]?.string { resume(id) }
    case "event":
      if let event = Event(params) { streams.deliver(event) }
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
