import WayTransport

/// Serves WebSocket endpoints, files and a few HTTP answers on one port, or at a Unix socket.
package final class SocketServer: Sendable {
  private let loop: SocketLoop
  private let sockets: ServerSockets

  /// The endpoints' paths are exact.
  package init(
    configuration: SocketServerConfiguration, endpoints: [Endpoint], loop: SocketLoop
  ) {
    self.loop = loop
    sockets = ServerSockets(configuration: configuration, endpoints: endpoints, loop: loop)
  }

  /// Listens. Returns where, with the real port. Once only.
  ///
  /// - Parameter responder: asked before the files are.
  package func start(
    responder: HTTPResponder? = nil
  ) async throws(SocketError) -> ListeningAddress {
    try await withCheckedContinuation { continuation in
      loop.execute { [sockets] in
        continuation.resume(
          returning: Result { () throws(SocketError) in try sockets.start(responder) })
      }
    }.get()
  }

  /// Lets in who is let in by these rules, in the place of those before. Connections that are there
  /// stay. May be called from any thread; holds before any request that comes after it.
  package func set(_ rules: AccessRules) {
    loop.execute { [sockets] in sockets.set(rules) }
  }

  /// Call on the loop.
  package var statistics: SocketStatistics { sockets.statistics }

  /// Closes every WebSocket connection with `drain` and takes no more of them; answers HTTP
  /// requests until these are gone, then stops listening, lets answers under way be finished, and
  /// returns when all are gone; those still there after `grace` are cut off. Idempotent.
  package func stop(drain: CloseCode = .drain, grace: Duration = .seconds(5)) async {
    await withCheckedContinuation { continuation in
      loop.execute { [sockets] in
        sockets.stop(drain: drain, grace: grace) { continuation.resume() }
      }
    }
  }
}
