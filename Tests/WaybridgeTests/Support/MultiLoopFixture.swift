import TestSupport
import WayRouting
import WaySession
import WaySockets
import WayTransport
import Waybridge

/// A bridge of several loops over sockets. New connections are assigned to the loops in turn.
struct MultiLoopFixture: ServerFixture {
  let running: RunningBridge
  private let clientLoop: SocketLoop

  static let loopCount = 3

  init(
    _ router: Router = Router(), _ change: (inout BridgeConfiguration) -> Void = { _ in }
  ) async throws {
    var configuration = BridgeConfiguration(
      port: 0, policy: Policy(rules: [Policy.Rule("all", .allow, ["*"], coversServer: true)]))
    configuration.loops = Self.loopCount
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

  /// Opens this many clients, each in its own session, across all loops.
  func openClients(
    _ count: Int = 2 * loopCount, _ members: ValueObject = [:]
  ) async throws -> [(client: WireClient, opened: Value)] {
    var clients: [(client: WireClient, opened: Value)] = []
    for _ in 0..<count { clients.append(try await WireClient.open(on: self, members)) }
    return clients
  }

  /// The number of sessions on each loop.
  var sessionCounts: [Int] {
    get async { await running.sessionServer.statistics().map(\.totals.sessions) }
  }

  /// Runs a test with a fixture, and stops it afterwards.
  static func run(
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
