import WayRouting
import WayTransport
import WayValues

// Who comes.
extension LoopSessions {
  package nonisolated var identifies: Bool { configuration.identify != nil }

  /// Who a client is. Fails with 2401 for who is refused, and with 2503 where the app takes too long
  /// to tell.
  package nonisolated func identity(of handshake: Handshake) async throws(CallError) -> Identity {
    guard let identify = configuration.identify else { return Identity() }
    let timeout = configuration.identifyTimeout
    let asked = FirstResult<Identity>()
    // Before the app is asked, so that its time does not depend on when this gets its turn.
    let alarm = loop.schedule(after: timeout) {
      asked.give(.failure(IdentificationTimeout()))
    }
    let task = Task {
      do {
        asked.give(.success(try await identify(handshake)))
      } catch {
        asked.give(.failure(error))
      }
    }
    defer {
      alarm.cancel()
      task.cancel()
    }
    switch await asked.value() {
    case .success(let identity): return identity
    case .failure(is IdentificationTimeout):
      throw CallError(.unavailable, "It could not be told in time who the client is")
    case .failure(let error):
      let reason = (error as? CallError)?.message ?? "\(error)"
      throw CallError(.notAuthenticated, "The token was refused: \(reason)")
    }
  }
}

extension SessionServer {
  /// Whether the app knows who sent a request.
  package func knows(_ handshake: Handshake) async -> Bool {
    guard let hub = hubs.first else { return false }
    return (try? await hub.identity(of: handshake)) != nil
  }
}

/// The app took too long.
private struct IdentificationTimeout: Error {}
