import Synchronization
import TestSupport
import WaySession
import WayTransport
import Waybridge

@testable import WaybridgeClient

/// A bridge in memory with clients whose connections break.
struct ResumeFixture {
  let loop = MemoryLoop()
  let router = Router()
  /// The parameter `n` of each run of `action://count`.
  let counted = ValueRecorder<Int64>()
  private let loopSessions: LoopSessions
  private let server: BridgeServer

  init() async throws {
    server = BridgeServer(router: router, configuration: BridgeConfiguration())
    loopSessions = try await server.startInMemory(on: loop) { [loop] in
      Int64(loop.nanoseconds / 1_000_000)
    }
    try router.task("action://count") { [counted] call in
      if let n = call.params["n"]?.integer { counted.add(n) }
      return call.params["n"] ?? .null
    }
  }

  var sessionCount: Int { get async { loopSessions.sessionServer.sessionCount } }

  /// Connects a client. Also returns the connector that makes its connections.
  func connect(
    _ options: BridgeClient.SessionOptions = .init(name: "test", version: "1"),
    breakingAfter lives: [Int] = []
  ) async throws -> (client: BridgeClient, connector: FlakyConnector) {
    let connector = FlakyConnector(
      ClientMemoryConnector(
        to: ConnectionAcceptor(loopSessions.sessionServer), Handshake(subprotocol: "waybridge.v1"),
        on: loop),
      on: loop,
      breakingAfter: lives)
    let client = BridgeClient(loop: loop, connector: connector) {}
    try await client.open(options)
    return (client, connector)
  }

  /// Joins the session of another client.
  func join(
    _ client: BridgeClient, hosts: [BridgeClient.Host] = [], breakingAfter lives: [Int] = []
  ) async throws -> (client: BridgeClient, connector: FlakyConnector) {
    let join = await client.session?.join
    return try await connect(
      .init(name: "member", version: "1", join: join, hosts: hosts), breakingAfter: lives)
  }
}

extension BridgeClient {
  /// Waits until so many calls wait for their responses. A task that makes a call may start later
  /// than the work of the client's loop is done.
  func waitForPendingCalls(_ count: Int) async {
    while pendingCalls.count < count { await Task.yield() }
  }
}

/// Values in the order in which they were recorded.
final class ValueRecorder<Element: Sendable>: Sendable {
  private let values = Mutex<[Element]>([])

  var all: [Element] { values.withLock { $0 } }

  func add(_ element: Element) { values.withLock { $0.append(element) } }
}
