import TestSupport
import WaySockets
import WayTable
import WayTransport
import Waybridge

/// A bridge on a free port of the loopback interface, with the demo's table and the conformance methods.
struct LiveServer: PeerServer {
  let running: RunningBridge
  private let clientLoop: SocketLoop

  init(limits: Limits = Limits()) async throws {
    let router = Router()
    try RouteTable(parsing: try ProjectFiles.json("protocol/routes/demo.json")).apply(to: router)
    let configuration = BridgeConfiguration(
      port: 0, webRoot: ProjectFiles.url("web").path, limits: limits, tableVersion: "test",
      conformance: true)
    running = try await RunningBridge(router: router, configuration: configuration)
    clientLoop = try SocketLoop.start()
  }

  var url: String { "ws://127.0.0.1:\(running.address.port)/bridge" }

  func connect(
    subprotocol: String?, receiver: any MessageReceiver
  ) async throws -> any MessageChannel {
    let channel = Mailbox<any MessageChannel>()
    try await SocketClient.connect(url: url, subprotocol: subprotocol, on: clientLoop) {
      channel.put($0)
      return receiver
    }
    return try await channel.take()
  }

  /// Time passes by itself here: a message that the time brings is awaited by whoever expects it.
  func advance(by time: Duration) async throws {}

  func stop() async {
    await running.stop()
    await clientLoop.shutdown()
  }
}
