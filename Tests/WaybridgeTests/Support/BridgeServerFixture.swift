import TestSupport
import WayRPC
import WaySockets
import WayTransport
import Waybridge

/// A ``BridgeServer`` that runs, and raw clients of it.
struct BridgeServerFixture: PeerServer {
  let server: BridgeServer
  private let run: Task<Void, any Error>
  private let address: BoundAddress
  private let clientLoop: SocketLoop

  /// `before` comes before the server runs.
  init(
    _ router: Router, _ configuration: BridgeConfiguration,
    onListening: @escaping @Sendable () -> Void = {},
    before: (BridgeServer) async throws -> Void = { _ in }
  ) async throws {
    // Whoever stops a test does not wait for its calls.
    var configuration = configuration
    configuration.drain = .zero
    let listening = Mailbox<BoundAddress>()
    let server = BridgeServer(
      router: router, configuration: configuration,
      onListening: {
        onListening()
        listening.put($0)
      })
    self.server = server
    try await before(server)
    run = Task { try await server.run() }
    address = try await listening.take()
    clientLoop = try SocketLoop.start()
  }

  func connect(
    subprotocol: String?, receiver: any MessageReceiver
  ) async throws -> any MessageChannel {
    try await clientLoop.connect(
      to: "ws://127.0.0.1:\(address.port)/bridge", subprotocol: subprotocol, receiver: receiver)
  }

  func advance(by time: Duration) async throws {}

  func stop() async {
    run.cancel()
    _ = try? await run.value
    await clientLoop.shutdown()
  }
}

extension Peer {
  /// Sends a request and gives its answer's result.
  func ask(_ method: String, _ params: Value) async throws -> Value {
    try await send(["jsonrpc": "2.0", "id": "ask", "method": .string(method), "params": params])
    while true {
      let message = try await value()
      if message["id"] == "ask", let result = message["result"] { return result }
    }
  }

  /// The next message.
  func value() async throws -> Value {
    guard case .text(let bytes) = try await next() else {
      throw TranscriptFailure(description: "the connection closed")
    }
    return try JSON.parse(bytes.span.bytes)
  }

  /// Answers a request of the server.
  func reply(_ request: Value, _ result: Value) async throws {
    try await send(["jsonrpc": "2.0", "id": request["id"] ?? .null, "result": result])
  }
}
