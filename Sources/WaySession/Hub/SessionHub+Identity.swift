import WayRouting
import WayTransport
import WayValues

// Who comes.
extension SessionHub {
  package nonisolated var identifies: Bool { configuration.identify != nil }

  /// Who a client is. Fails with 2401 for who is refused, and with 2503 where the app takes too long
  /// to tell.
  package nonisolated func identity(of handshake: Handshake) async throws(CallError) -> Identity {
    guard let identify = configuration.identify else { return Identity() }
    let timeout = configuration.identifyTimeout
    let asked = Question<Identity>()
    let task = Task {
      do {
        asked.answer(.success(try await identify(handshake)))
      } catch {
        let reason = (error as? CallError)?.message ?? "\(error)"
        asked.answer(
          .failure(CallError(.notAuthenticated, "The token was refused: \(reason)")))
      }
    }
    let alarm = loop.schedule(after: timeout) {
      asked.answer(
        .failure(CallError(.unavailable, "It could not be told in time who the client is")))
      task.cancel()
    }
    defer { alarm.cancel() }
    return try await asked.answer().get()
  }

  /// From now on other rules hold, for calls under way too; nil for none.
  package func follow(_ rulebook: Rulebook?) {
    policy.rulebook = rulebook
  }
}

extension SessionHub {
  /// Tells whether the app knows who sent a request. Call on the loop.
  package nonisolated func admit(
    _ handshake: Handshake, _ answer: @escaping @Sendable (Bool) -> Void
  ) -> any ScheduledWork {
    let task = Task {
      let isKnown = (try? await identity(of: handshake)) != nil
      loop.execute { answer(isKnown) }
    }
    return CancelledTask(task)
  }
}

/// A task that is cancelled as other work is.
private final class CancelledTask: ScheduledWork {
  private let task: Task<Void, Never>

  init(_ task: Task<Void, Never>) {
    self.task = task
  }

  func cancel() { task.cancel() }
}
