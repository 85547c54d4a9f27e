import WayRouting
import WayTransport
import WayValues

/// The pending requests to other servers, and the running requests of other servers. May be used on
/// any thread.
final class SessionPeerRequests: Sendable {
  /// How many requests of one other server may run at once.
  private static let maxRunning = 10_000

  private struct PendingPeerRequest {
    let server: String
    let progress: (@Sendable (Value) -> Void)?
    let response: FirstResult<Value>
  }

  private struct RequestsState {
    var pending: [Int64: PendingPeerRequest] = [:]
    /// Running requests by their sender, and by the number that the sender has chosen.
    var running: [String: [Int64: Task<Void, Never>]] = [:]
    var lastNumber: Int64 = 0
  }

  private let state = Locked(RequestsState())
  private let send: @Sendable (SessionClusterMessage, String) -> Void

  /// `send` sends a message to another server.
  init(send: @escaping @Sendable (SessionClusterMessage, _ server: String) -> Void) {
    self.send = send
  }

  /// Sends a request to a server. Fails with the error of its response, with 2599 if the server is
  /// lost first, and with 2408 if the response takes longer than `time`. If the task is cancelled,
  /// so is the request.
  func request(
    _ server: String, _ method: String, _ params: Value, within time: Duration,
    on loop: any EventLoop,
    progress: (@Sendable (Value) -> Void)? = nil
  ) async throws(CallError) -> Value {
    let response = FirstResult<Value>()
    let id = state.withLock { state in
      state.lastNumber += 1
      state.pending[state.lastNumber] = PendingPeerRequest(
        server: server, progress: progress, response: response)
      return state.lastNumber
    }
    let timer = loop.schedule(after: time.clampedTimeout) {
      response.complete(
        .failure(CallError(.deadline, "The server \(server) did not answer in time")))
    }
    send(.request(id, method: method, params: params), server)
    let result = await withTaskCancellationHandler {
      await response.value()
    } onCancel: {
      response.complete(
        .failure(CallError(.cancelled, "The request to the server \(server) was cancelled")))
    }
    timer.cancel()
    // A request with a response is no longer pending. A caller that has given up cancels its
    // request.
    if state.withLock({ $0.pending.removeValue(forKey: id) }) != nil { send(.cancel(id), server) }
    switch result {
    case .success(let value): return value
    case .failure(let error): throw (error as? CallError) ?? CallError(.internal, "\(error)")
    }
  }

  /// Receives the progress of a pending request, or its response.
  func receive(progress value: Value, of id: Int64, from server: String) {
    guard let pending = state.withLock({ $0.pending[id] }), pending.server == server else { return }
    pending.progress?(value)
  }

  func receive(
    response result: Result<Value, CallError>, of id: Int64, from server: String
  ) {
    let pending = state.withLock { state in
      state.pending[id]?.server == server ? state.pending.removeValue(forKey: id) : nil
    }
    pending?.response.complete(result.mapError { $0 })
  }

  /// Runs `work` for a request of another server, and sends its response.
  func handle(
    _ id: Int64, from server: String,
    _ work:
      @escaping @Sendable (
        _ progress: @escaping @Sendable (Value) -> Void
      ) async throws(CallError) -> Value
  ) {
    let send = send
    state.withLock { state in
      guard state.running[server, default: [:]].count < Self.maxRunning else {
        let error = CallError(
          .tooMany, "The server has too many unanswered requests of other servers")
        return send(.response(id, .failure(error)), server)
      }
      state.running[server, default: [:]][id] = Task { [weak self] in
        let result: Result<Value, CallError>
        do throws(CallError) {
          result = .success(try await work { send(.progress(id, $0), server) })
        } catch {
          result = .failure(error)
        }
        if self?.finish(id, from: server) != nil { send(.response(id, result), server) }
      }
    }
  }

  /// Cancels a request whose sender no longer needs the response.
  func cancel(_ id: Int64, from server: String) {
    finish(id, from: server)?.cancel()
  }

  /// Removes a running request and returns its task; nil if its response is no longer needed.
  private func finish(_ id: Int64, from server: String) -> Task<Void, Never>? {
    state.withLock { state in
      defer { if state.running[server]?.isEmpty == true { state.running[server] = nil } }
      return state.running[server]?.removeValue(forKey: id)
    }
  }

  /// Ends all requests between this server and another that is down, or if messages between the two
  /// are missing. Requests to it fail; requests from it are cancelled.
  func drop(_ server: String) {
    let (responses, running) = state.withLock { state in
      let pending = state.pending.filter { $0.value.server == server }
      for id in pending.keys { state.pending[id] = nil }
      let running = state.running.removeValue(forKey: server)
      return (pending.values.map(\.response), running.map { Array($0.values) } ?? [])
    }
    for response in responses {
      response.complete(
        .failure(
          CallError(
            .outcomeUnknown,
            "The server \(server) was lost; it is not known whether it carried out the request")))
    }
    for task in running { task.cancel() }
  }
}
