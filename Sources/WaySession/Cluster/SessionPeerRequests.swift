import WayRouting
import WayTransport
import WayValues

/// What one server has asked others and is not answered yet, and what it is asked. May be used on
/// any thread.
final class SessionPeerRequests: Sendable {
  /// How many questions of one other server are worked on at once.
  private static let maxAnswering = 10_000

  private struct Asked {
    let server: String
    let progress: (@Sendable (Value) -> Void)?
    let answer: FirstResult<Value>
  }

  private struct State {
    var asked: [UInt64: Asked] = [:]
    /// By who has asked, and its number there.
    var answering: [String: [UInt64: Task<Void, Never>]] = [:]
    var last: UInt64 = 0
  }

  private let state = Locked(State())
  private let send: @Sendable (ClusterMessage, String) -> Void

  /// `send` takes what goes to another server.
  init(send: @escaping @Sendable (ClusterMessage, _ server: String) -> Void) {
    self.send = send
  }

  /// Asks a server; fails with what that answers, with 2599 where it is gone before it has, and with
  /// 2408 where that takes longer than `time`. Where the task is cancelled, so is the question.
  func ask(
    _ server: String, _ question: Value, within time: Duration, on loop: any EventLoop,
    progress: (@Sendable (Value) -> Void)? = nil
  ) async throws(CallError) -> Value {
    let answer = FirstResult<Value>()
    let id = state.withLock { state in
      state.last += 1
      state.asked[state.last] = Asked(server: server, progress: progress, answer: answer)
      return state.last
    }
    let alarm = loop.schedule(after: time.asTimer) {
      answer.give(
        .failure(CallError(.deadline, "The server \(server) has not answered in time")))
    }
    send(.question(id, question), server)
    let result = await withTaskCancellationHandler {
      await answer.value()
    } onCancel: {
      answer.give(.failure(CallError(.cancelled, "The question to \(server) was given up")))
    }
    alarm.cancel()
    // What is answered is not there any more: whoever has given up tells so.
    if state.withLock({ $0.asked.removeValue(forKey: id) }) != nil { send(.cancel(id), server) }
    switch result {
    case .success(let value): return value
    case .failure(let error): throw (error as? CallError) ?? CallError(.internal, "\(error)")
    }
  }

  /// A server that was asked tells how far it is, or answers.
  func heard(progress value: Value, of id: UInt64, from server: String) {
    guard let asked = state.withLock({ $0.asked[id] }), asked.server == server else { return }
    asked.progress?(value)
  }

  func heard(answer value: Value, of id: UInt64, from server: String) {
    let asked = state.withLock { state in
      state.asked[id]?.server == server ? state.asked.removeValue(forKey: id) : nil
    }
    guard let asked else { return }
    if let error = value["error"] {
      asked.answer.give(.failure(CallError(told: error)))
    } else {
      asked.answer.give(.success(value["result"] ?? .null))
    }
  }

  /// Another server asks; `work` answers it.
  func take(
    _ id: UInt64, from server: String,
    _ work:
      @escaping @Sendable (
        _ progress: @escaping @Sendable (Value) -> Void
      ) async throws(CallError) -> Value
  ) {
    let send = send
    state.withLock { state in
      guard state.answering[server, default: [:]].count < Self.maxAnswering else {
        let error = CallError(.tooMany, "The server has too many questions to answer")
        return send(.answer(id, ["error": error.value]), server)
      }
      state.answering[server, default: [:]][id] = Task { [weak self] in
        let answer: Value
        do throws(CallError) {
          answer = ["result": try await work { send(.progress(id, $0), server) }]
        } catch {
          answer = ["error": error.value]
        }
        if self?.finish(id, from: server) != nil { send(.answer(id, answer), server) }
      }
    }
  }

  /// Who has asked does not want the answer any more.
  func cancel(_ id: UInt64, from server: String) {
    finish(id, from: server)?.cancel()
  }

  /// The work on a question, which is forgotten; nil where nobody wants its answer any more.
  private func finish(_ id: UInt64, from server: String) -> Task<Void, Never>? {
    state.withLock { state in
      defer { if state.answering[server]?.isEmpty == true { state.answering[server] = nil } }
      return state.answering[server]?.removeValue(forKey: id)
    }
  }

  /// Another server is gone, or messages are missing between the two: what it was asked has no
  /// answer, and what it has asked need not have one.
  func drop(_ server: String) {
    let (asked, answering) = state.withLock { state in
      let asked = state.asked.filter { $0.value.server == server }
      for id in asked.keys { state.asked[id] = nil }
      let answering = state.answering.removeValue(forKey: server)
      return (asked.values.map(\.answer), answering.map { Array($0.values) } ?? [])
    }
    for answer in asked {
      answer.give(
        .failure(
          CallError(
            .outcomeUnknown,
            "The server \(server) was lost: whether it had carried that out is not known")))
    }
    for task in answering { task.cancel() }
  }
}
