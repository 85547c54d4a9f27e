import TestSupport
import WayRPC
import WaySockets
import WayTransport
import Waybridge

/// A running ``BridgeServer``, and raw clients of it.
struct BridgeServerFixture: ServerFixture {
  let server: BridgeServer
  private let runTask: Task<Void, any Error>
  private let address: BridgeServerAddress
  private let clientLoop: SocketLoop

  /// `before` runs before the server starts.
  init(
    _ router: Router, _ configuration: BridgeConfiguration,
    onListening: @escaping @Sendable () -> Void = {},
    before: (BridgeServer) async throws -> Void = { _ in }
  ) async throws {
    // A stopping test does not wait for its calls.
    var configuration = configuration
    configuration.drainTimeout = .zero
    let listening = Mailbox<BridgeServerAddress>()
    let server = BridgeServer(
      router: router, configuration: configuration,
      onListening: {
        onListening()
        listening.put($0)
      })
    self.server = server
    try await before(server)
    runTask = Task { try await server.run() }
    address = try await listening.receive()
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
    runTask.cancel()
    _ = try? await runTask.value
    await clientLoop.shutdown()
  }
}

extension RawClient {
  /// Sends a request and returns the result of its response.
  func request(_ method: String, _ params: Value) async throws -> Value {
    try await send(["jsonrpc": "2.0", "id": "ask", "method": .string(method), "params": params])
    while true {
      let message = try await nextMessage()
      if message["id"] == "ask", let result = message["result"] { return result }
    }
  }

  /// Returns the next message.
  func nextMessage() async throws -> Value {
    guard case .text(let bytes) = try await next() else {
      throw TranscriptFailure(description: "the connection closed")
    }
    return try JSON.parse(bytes.span.bytes)
  }

  /// Responds to a request of the server.
  func respond(_ request: Value, _ result: Value) async throws {
    try await send(["jsonrpc": "2.0", "id": request["id"] ?? .null, "result": result])
  }
}
