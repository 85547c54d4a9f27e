import WayTransport

@testable import WaySockets

/// A server on a loop of its own, with an endpoint `/echo` that knows the subprotocols `a` and `b`.
struct TestServer: Sendable {
  let loop: SocketLoop
  let server: SocketServer
  let acceptor: RecordingAcceptor
  let address: SocketListenAddress
  var port: Int { address.port }

  static let maxMessage = 1 << 20

  func url(_ path: String = "/echo") -> String { "ws://127.0.0.1:\(port)\(path)" }

  /// Connects a client whose receiver only records.
  func connect(
    path: String = "/echo", subprotocol: String? = nil, maxMessage: Int = 4 << 20
  ) async throws -> RecordingReceiver {
    let (clients, sink) = AsyncStream<RecordingReceiver>.makeStream()
    try await SocketClient.connect(
      url: url(path), subprotocol: subprotocol, maxMessage: maxMessage, on: loop
    ) { channel in
      let recorder = RecordingReceiver(channel)
      sink.yield(recorder)
      return recorder
    }
    var iterator = clients.makeAsyncIterator()
    guard let recorder = await iterator.next() else { throw SocketError(.ended, "no client") }
    return recorder
  }

  /// Runs `work` on the loop and waits for it.
  func onLoop(_ work: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      loop.execute {
        work()
        continuation.resume()
      }
    }
  }
}

/// A change to a server's configuration.
struct ConfigurationChange {
  let apply: (inout SocketServerConfiguration) -> Void
}

extension SocketServerConfiguration {
  /// Listens on a free port.
  static var anyPort: SocketServerConfiguration {
    var configuration = SocketServerConfiguration()
    configuration.network.port = 0
    return configuration
  }
}

func withServer(
  echoes: Bool = true,
  responder: HTTPResponder? = nil,
  configure: ConfigurationChange = .init { _ in },
  _ body: (TestServer) async throws -> Void
) async throws {
  let loop = try SocketLoop.start()
  let acceptor = RecordingAcceptor(echoes: echoes)
  var configuration = SocketServerConfiguration.anyPort
  configure.apply(&configuration)
  let endpoint = Endpoint(
    path: "/echo", subprotocols: ["a", "b"], maxMessage: TestServer.maxMessage, acceptor: acceptor)
  let guarded = Endpoint(
    path: "/guarded", subprotocols: [], maxMessage: TestServer.maxMessage,
    maxMessageBeforeAdmission: 100, acceptor: acceptor)
  let other = Endpoint(
    path: "/other", subprotocols: ["c"], maxMessage: 16, maxBuffered: 32, acceptor: acceptor)
  let server = SocketServer(
    configuration: configuration, endpoints: [endpoint, guarded, other], loop: loop)
  do {
    let address = try await server.start(responder: responder)
    try await body(
      TestServer(loop: loop, server: server, acceptor: acceptor, address: address))
  } catch {
    await server.stop(grace: .seconds(1))
    await loop.shutdown()
    throw error
  }
  await server.stop(grace: .seconds(1))
  await loop.shutdown()
}
