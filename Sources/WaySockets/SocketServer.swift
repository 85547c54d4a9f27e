import WayTransport

/// Serves WebSocket endpoints, files and a few HTTP answers on one port, or at a Unix socket.
package final class SocketServer: Sendable {
  private let loop: SocketLoop
  private let sockets: ServerSockets
  private let places: [SocketLoopServer]

  /// Listens, and serves HTTP, on the first of the loops, of which there is at least one; WebSocket
  /// connections go to all of them. The endpoints' paths are exact.
  package init(
    configuration: SocketServerConfiguration, endpoints: [Endpoint], loop: SocketLoop,
    others: [SocketLoop] = []
  ) {
    self.loop = loop
    places = ([loop] + others).map {
      SocketLoopServer(configuration, loop: $0, count: others.count + 1)
    }
    sockets = ServerSockets(
      configuration: configuration, endpoints: endpoints, loop: loop, places: places)
  }

  /// Listens. Returns where, with the real port. Once only.
  ///
  /// - Parameter responder: asked before the files are.
  package func start(
    responder: HTTPResponder? = nil
  ) async throws(SocketError) -> ListenAddress {
    let subprotocols = try await on(loop) { [sockets] () throws(SocketError) in
      try sockets.check()
    }
    var begun: [SocketLoopServer] = []
    do throws(SocketError) {
      for place in places {
        try await on(place.loop) { [sockets, places] () throws(SocketError) in
          try place.begin(
            among: places, subprotocols: subprotocols, onEnded: { sockets.connectionEnded() },
            onOver: { sockets.placeIsOver() })
        }
        begun.append(place)
      }
      return try await on(loop) { [sockets] () throws(SocketError) in
        try sockets.listen(responder)
      }
    } catch {
      for place in begun { place.loop.execute { place.finish() } }
      throw error
    }
  }

  private func on<Success: Sendable>(
    _ loop: SocketLoop, _ work: @escaping @Sendable () throws(SocketError) -> Success
  ) async throws(SocketError) -> Success {
    try await withCheckedContinuation { continuation in
      loop.execute {
        continuation.resume(returning: Result { () throws(SocketError) in try work() })
      }
    }.get()
  }

  /// Lets in who is let in by these rules, in the place of those before. Connections that are there
  /// stay. May be called from any thread; holds before any request that comes after it.
  package func set(_ rules: AccessRules) {
    loop.execute { [sockets] in sockets.set(rules) }
  }

  /// What the sockets of the first loop hold. Call on that loop.
  package var firstStatistics: SocketStatistics { places[0].statistics }

  /// What the sockets of each loop hold, in the order of the loops. From any thread.
  package func statistics() async -> [SocketStatistics] {
    var statistics: [SocketStatistics] = []
    for place in places {
      statistics.append(
        await withCheckedContinuation { continuation in
          place.loop.execute { continuation.resume(returning: place.statistics) }
        })
    }
    return statistics
  }

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
