import WayRPC
import WayValues

extension BridgeClient: LineUser {
  nonisolated func connected() {
    assumeIsolated { $0.greet() }
  }

  nonisolated func take(_ message: Message) {
    assumeIsolated { $0.handle(message) }
  }

  nonisolated func lost(_ end: ClientConnectionEnd, attempt: Int, delay: Duration) {
    assumeIsolated { $0.states.tell(.waiting(end, attempt: attempt, delay: delay)) }
  }

  nonisolated func ended(_ end: ClientConnectionEnd, _ error: CallError?) {
    assumeIsolated { $0.settle(end, error) }
  }

  private func handle(_ message: Message) {
    switch message {
    case .response(let response): pending.take(response.id)?.settle(response.result)
    case .notification(let notification): handle(notification)
    case .request(let request): serve(request)
    case .invalid(let id, let error): answer(id, .failure(error))
    }
  }

  private func handle(_ notification: Notification) {
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
