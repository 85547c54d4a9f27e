import Synchronization
import TestSupport
import WaySession
import WayTransport
import Waybridge
import WaybridgeClient

/// A bridge in memory with clients whose connections break.
struct ResumeFixture {
  let loop = MemoryLoop()
  let router = Router()
  /// The parameter `n` of each `action://count`, as it is run.
  let counted = ValueRecorder<Int64>()
  private let hub: LoopSessions
  private let server: BridgeServer

  init() async throws {
    server = BridgeServer(router: router, configuration: BridgeConfiguration())
    hub = try await server.begin(on: loop) { [loop] in Int64(loop.nanoseconds / 1_000_000) }
    try router.task("action://count") { [counted] call in
      if let n = call.params["n"]?.integer { counted.add(n) }
      return call.params["n"] ?? .null
    }
  }

  var sessions: Int { get async { hub.group.sessionCount } }

  /// A client, and what makes its connections.
  func connect(
    _ options: BridgeClient.SessionOptions = .init(name: "test", version: "1"),
    breakingAfter lives: [Int] = []
  ) async throws -> (client: BridgeClient, connector: FlakyConnector) {
    let connector = FlakyConnector(
      MemoryClientConnector(to: hub, Handshake(subprotocol: "waybridge.v1"), on: loop), on: loop,
      breakingAfter: lives)
    let client = BridgeClient(loop: loop, connector: connector) {}
    try await client.open(options)
    return (client, connector)
  }

  /// A member of the session of another.
  func join(
    _ client: BridgeClient, hosts: [BridgeClient.Host] = [], breakingAfter lives: [Int] = []
  ) async throws -> (client: BridgeClient, connector: FlakyConnector) {
    let join = await client.session?.join
    return try await connect(
      .init(name: "member", version: "1", join: join, hosts: hosts), breakingAfter: lives)
  }
}

/// What happened, in its order.
final class ValueRecorder<Element: Sendable>: Sendable {
  private let held = Mutex<[Element]>([])

  var all: [Element] { held.withLock { $0 } }

  func add(_ element: Element) { held.withLock { $0.append(element) } }
}
