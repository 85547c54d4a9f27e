import TestSupport
import WayRouting
import WaySession
import WaySockets
import WayTransport
import Waybridge

/// A bridge of several loops over sockets; connections come to one after another.
struct MultiLoopFixture: PeerServer {
  let running: RunningBridge
  private let clientLoop: SocketLoop

  static let loops = 3

  init(
    _ router: Router = Router(), _ change: (inout BridgeConfiguration) -> Void = { _ in }
  ) async throws {
    var configuration = BridgeConfiguration(
      port: 0, policy: Policy(rules: [Policy.Rule("all", .allow, ["*"], coversServer: true)]))
    configuration.loops = Self.loops
    change(&configuration)
    running = try await RunningBridge(router: router, configuration: configuration)
    clientLoop = try SocketLoop.start()
  }

  func connect(
    subprotocol: String?, receiver: any MessageReceiver
  ) async throws -> any MessageChannel {
    try await clientLoop.connect(
      to: "ws://127.0.0.1:\(running.address.port)/bridge", subprotocol: subprotocol,
      receiver: receiver)
  }

  func advance(by time: Duration) async throws {}

  /// So many clients, each in a session of its own, on all loops.
  func clients(
    _ count: Int = 2 * loops, _ members: ValueObject = [:]
  ) async throws -> [(client: WireClient, hello: Value)] {
    var clients: [(client: WireClient, hello: Value)] = []
    for _ in 0..<count { clients.append(try await WireClient.open(on: self, members)) }
    return clients
  }

  /// How many sessions each loop has.
  var sessions: [Int] {
    get async { await running.group.statistics().map(\.census.sessions) }
  }

  /// Runs a test with one, which ends with it.
  static func with(
    _ router: Router = Router(), _ change: (inout BridgeConfiguration) -> Void = { _ in },
    _ body: (MultiLoopFixture) async throws -> Void
  ) async throws {
    let bridge = try await MultiLoopFixture(router, change)
    do { try await body(bridge) } catch {
      await bridge.stop()
      throw error
    }
    await bridge.stop()
  }

  func stop() async {
    await running.stop()
    await clientLoop.shutdown()
  }
}
