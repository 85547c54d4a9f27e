import WayRouting
import WayTransport
import WayValues

// Authentication of clients.
extension LoopSessions {
  package nonisolated var authenticatesClients: Bool { configuration.sessions.identify != nil }

  /// Returns the identity of a client. Fails with 2401 if the app rejects it, and with 2503 if the
  /// app takes too long.
  package nonisolated func identity(of handshake: Handshake) async throws(CallError) -> Identity {
    guard let identify = configuration.sessions.identify else { return Identity() }
    let timeout = configuration.sessions.identifyTimeout
    let identity = FirstResult<Identity>()
    // Scheduled before the task starts, so that the timeout does not depend on when the task runs.
    let timer = loop.schedule(after: timeout) {
      identity.complete(.failure(IdentificationTimeout()))
    }
    let task = Task {
      do {
        identity.complete(.success(try await identify(handshake)))
      } catch {
        identity.complete(.failure(error))
      }
    }
    defer {
      timer.cancel()
      task.cancel()
    }
    switch await identity.value() {
    case .success(let value): return value
    case .failure(is IdentificationTimeout):
      throw CallError(.unavailable, "The app did not authenticate the client in time")
    case .failure(let error):
      let reason = (error as? CallError)?.message ?? "\(error)"
      throw CallError(.notAuthenticated, "The token was rejected: \(reason)")
    }
  }
}

extension LoopSessions {
  /// Returns the identity of a client with another token than that of its handshake, or the error of
  /// ``identity(of:)``.
  nonisolated func identity(
    of handshake: Handshake, withToken token: String?
  ) async -> Result<Identity, CallError> {
    var handshake = handshake
    handshake.token = token
    do throws(CallError) {
      return .success(try await identity(of: handshake))
    } catch {
      return .failure(error)
    }
  }

  /// Whether a connection is not reserved for administrators, or the client is one.
  func mayUseConnection(_ identity: Identity, _ handshake: Handshake) -> Bool {
    !handshake.isReserved || isAdministrator(identity, handshake)
  }

  /// Whether the policy makes a client an administrator: allows it at least one administrative
  /// method.
  func isAdministrator(_ identity: Identity, _ handshake: Handshake) -> Bool {
    let caller = Caller(
      session: "", identity: identity, origin: handshake.origin, address: handshake.address)
    let rights = Rights(caller, policy)
    return MethodTable.builtIn.contains { method in
      guard method.kind == .admin else { return false }
      do throws(CallError) {
        try rights.authorize(method.name, method.kind)
        return true
      } catch {
        return false
      }
    }
  }
}

extension SessionServer {
  /// Whether the app can authenticate the sender of a request.
  package func isAuthenticated(_ handshake: Handshake) async -> Bool {
    guard let loopSessions = sessionsByLoop.first else { return false }
    return (try? await loopSessions.identity(of: handshake)) != nil
  }
}

/// The app took too long.
private struct IdentificationTimeout: Error {}
