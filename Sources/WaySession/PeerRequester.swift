import WayRPC
import WayRouting
import WayTransport
import WayValues

/// Asks a client of this server for a call of a session of another: takes the answer, and what comes
/// before it. On the loop of the client's session.
actor PeerRequester: Requester {
  private nonisolated let executor: UnownedSerialExecutor
  private let progress: @Sendable (Value) -> Void
  private let answer = FirstResult<Value>()

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor }

  init(_ loop: any EventLoop, _ progress: @escaping @Sendable (Value) -> Void) {
    executor = loop.asUnownedSerialExecutor()
    self.progress = progress
  }

  nonisolated func report(_ value: Value) { progress(value) }

  nonisolated func answered(_ result: Result<Value, RequestFailure>) {
    answer.give(.success(result.told))
  }

  /// Asks, and gives what became of it (`Result.told`). Where the task is cancelled, the client is
  /// told so, and nobody waits for it.
  static func ask(
    _ name: String, in session: Session, _ method: String, _ params: Value, _ caller: Caller?,
    _ progress: @escaping @Sendable (Value) -> Void
  ) async -> Value {
    let asker = PeerRequester(session.loop, progress)
    let asked = await session.ask(name, method, params, caller, by: asker)
    let result = await withTaskCancellationHandler {
      await asker.answer.value()
    } onCancel: {
      guard let asked else { return }
      session.loop.execute {
        session.assumeIsolated { $0.mail.cancelRequest(asked.id, asked.client) }
      }
      asker.answer.give(.success(.null))
    }
    return (try? result.get()) ?? .null
  }
}

extension Session {
  fileprivate func ask(
    _ name: String, _ method: String, _ params: Value, _ caller: Caller?, by asker: PeerRequester
  ) -> (id: RequestID, client: Client)? {
    guard let client = members.all.first(where: { $0.name == name }), !isReleased else {
      asker.answered(.failure(.unanswered(CallError(.hostAbsent, "The host is gone"))))
      return nil
    }
    do throws(RequestFailure) {
      let id = try mail.request(client, method, params, for: .run(0), by: asker)
      if let request = client.pending[id] {
        request.rights = caller.map { Rights($0, environment.policy) } ?? ownRights
        // The call is another server's, which counts its own.
        if environment.watch.isOn { request.note = environment.watch.note(id, params, for: nil) }
      }
      return (id, client)
    } catch {
      asker.answered(.failure(error))
      return nil
    }
  }
}
