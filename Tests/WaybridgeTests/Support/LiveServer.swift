import TestSupport
import WaySockets
import WayTransport
import Waybridge

/// A bridge on a free port of the loopback interface, with the demo's table and the conformance
/// methods.
struct LiveServer: ServerFixture {
  let running: RunningBridge
  private let clientLoop: SocketLoop
  private let timeScale: Int

  /// - Parameter timeScale: the divisor of the server's timeouts and of the times in a transcript.
  init(router: Router = Router(), timeScale: Int = 1, policy: Value? = nil) async throws {
    try router.load(tableAt: ProjectFiles.url("protocol/routes/demo.json").path)
    var limits = Limits()
    limits.hello /= timeScale
    limits.pageOpen /= timeScale
    let configuration = BridgeConfiguration(
      port: 0, webRoot: ProjectFiles.url("web").path, limits: limits,
      enablesConformanceMethods: true,
      policy: try policy.map { try Policy(parsing: $0) } ?? Policy())
    self.timeScale = timeScale
    running = try await RunningBridge(router: router, configuration: configuration)
    clientLoop = try SocketLoop.start()
  }

  var url: String { "ws://127.0.0.1:\(running.address.port)/bridge" }

  func connect(
    subprotocol: String?, receiver: any MessageReceiver
  ) async throws -> any MessageChannel {
    try await clientLoop.connect(to: url, subprotocol: subprotocol, receiver: receiver)
  }

  func advance(by time: Duration) async throws {
    let passed = Mailbox<Void>()
    _ = clientLoop.schedule(after: time / timeScale) { passed.put(()) }
    try await passed.receive()
  }

  func stop() async {
    await running.stop()
    await clientLoop.shutdown()
  }
}

extension SocketLoop {
  /// Connects a raw client.
  func connect(
    to url: String, subprotocol: String?, receiver: any MessageReceiver
  ) async throws -> any MessageChannel {
    let channel = Mailbox<any MessageChannel>()
    try await SocketClient.connect(url: url, subprotocol: subprotocol, on: self) {
      channel.put($0)
      return receiver
    }
    return try await channel.receive()
  }
}
