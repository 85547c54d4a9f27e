import WayTransport

/// Serves WebSocket endpoints, files and a few HTTP responses on one port or Unix socket.
package final class SocketServer: Sendable {
  private let loop: SocketLoop
  private let sockets: ServerSockets
  private let loopServers: [SocketLoopServer]

  /// Creates a server that listens and serves HTTP on `loop`. WebSocket connections are distributed
  /// over `loop` and `others`. The paths of the endpoints match exactly.
  package init(
    configuration: SocketServerConfiguration, endpoints: [Endpoint], loop: SocketLoop,
    others: [SocketLoop] = []
  ) {
    self.loop = loop
    loopServers = ([loop] + others).map {
      SocketLoopServer(configuration, loop: $0, count: others.count + 1)
    }
    sockets = ServerSockets(
      configuration: configuration, endpoints: endpoints, loop: loop, loopServers: loopServers)
  }

  /// Starts to listen. Returns the address with the actual port. Call it once.
  ///
  /// - Parameter responder: Handles requests before files are looked up.
  package func start(
    responder: HTTPResponder? = nil
  ) async throws(SocketError) -> SocketListenAddress {
    let subprotocols = try await run(on: loop) { [sockets] () throws(SocketError) in
      try sockets.check()
    }
    var started: [SocketLoopServer] = []
    do throws(SocketError) {
      for loopServer in loopServers {
        try await run(on: loopServer.loop) { [sockets, loopServers] () throws(SocketError) in
          try loopServer.start(
            among: loopServers, subprotocols: subprotocols,
            onConnectionAdmitted: { sockets.connectionAdmitted($0) },
            onConnectionEnded: { sockets.connectionEnded($0) },
            onStopped: { sockets.loopServerStopped() })
        }
        started.append(loopServer)
      }
      return try await run(on: loop) { [sockets] () throws(SocketError) in
        try sockets.listen(responder)
      }
    } catch {
      for loopServer in started { loopServer.loop.execute { loopServer.finish() } }
      throw error
    }
  }

  private func run<Success: Sendable>(
    on loop: SocketLoop, _ work: @escaping @Sendable () throws(SocketError) -> Success
  ) async throws(SocketError) -> Success {
    try await withCheckedContinuation { continuation in
      loop.execute {
        continuation.resume(returning: Result { () throws(SocketError) in try work() })
      }
    }.get()
  }

  /// Replaces the access rules. Existing connections stay open. Call it from any thread; the rules
  /// apply to all requests that arrive later.
  package func apply(_ rules: AccessRules) {
    loop.execute { [sockets] in sockets.apply(rules) }
  }

  /// The statistics of the first loop's sockets. Call it on that loop.
  package var firstStatistics: SocketStatistics { loopServers[0].statistics }

  /// The statistics of each loop's sockets, in the order of the loops. Call it from any thread.
  package func statistics() async -> [SocketStatistics] {
    var statistics: [SocketStatistics] = []
    for loopServer in loopServers {
      statistics.append(
        await withCheckedContinuation { continuation in
          loopServer.loop.execute { continuation.resume(returning: loopServer.statistics) }
        })
    }
    return statistics
  }

  /// The statistics of admission. Call it from any thread.
  package func admissionStatistics() async -> AdmissionStatistics {
    await withCheckedContinuation { continuation in
      loop.execute { [sockets] in continuation.resume(returning: sockets.admissionStatistics) }
    }
  }

  /// Stops the server. It closes every WebSocket connection with `drain`, and accepts no more of
  /// them. It responds to HTTP requests until these connections are closed, then stops listening
  /// and finishes responses in progress.
  ///
  /// Returns when all connections are closed. Connections that are still open after `grace` are
  /// closed forcibly. Idempotent.
  package func stop(drain: CloseCode = .drain, grace: Duration = .seconds(5)) async {
    await withCheckedContinuation { continuation in
      loop.execute { [sockets] in
        sockets.stop(drain: drain, grace: grace) { continuation.resume() }
      }
    }
  }
}
