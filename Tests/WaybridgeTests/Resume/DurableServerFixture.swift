import Synchronization
import TestSupport
import WayTransport
import Waybridge
import WaybridgeClient

@testable import WaySession

/// A bridge in memory that ends as a killed one does and is started again with what its store has,
/// and clients that find it again.
final class DurableServerFixture: Sendable {
  let loop = MemoryLoop()
  let store = MemorySessionStore()
  private let door = Door()
  private let routes: @Sendable (Router) throws -> Void
  private let connectors = Mutex<[FlakyConnector]>([])

  /// Each life of the server has these routes.
  init(_ routes: @escaping @Sendable (Router) throws -> Void = { _ in }) async throws {
    self.routes = routes
    try await start()
  }

  private func start() async throws {
    let router = Router()
    try routes(router)
    var configuration = BridgeConfiguration()
    configuration.store = store
    let server = BridgeServer(router: router, configuration: configuration)
    let hub = try await server.begin(on: loop) { [loop] in Int64(loop.nanoseconds / 1_000_000) }
    try await hub.group.restore()
    door.hub = hub
  }

  /// Has the store take what has happened so far.
  func keep() async {
    await loop.advance(by: .milliseconds(200))
    await door.hub?.writer?.settle()
    await loop.settle()
  }

  /// Cuts all connections and starts the server again; then the clients connect again. What the
  /// store was not given by ``keep()`` is lost where `isSudden`.
  func restart(isSudden: Bool = false, meanwhile: () async throws -> Void = {}) async throws {
    if isSudden { await store.fail(with: SessionStoreError.leaseLost(sessions: [])) }
    let connectors = connectors.withLock { $0 }
    for connector in connectors {
      connector.isReachable = false
      await connector.cut()
    }
    await loop.settle()
    try await meanwhile()
    await store.fail(with: nil)
    try await start()
    for connector in connectors { connector.isReachable = true }
    await loop.advance(by: .seconds(31))
  }

  /// Cuts all connections.
  func cut() async {
    for connector in connectors.withLock({ $0 }) { await connector.cut() }
    await loop.settle()
  }

  /// A client that comes back.
  func connect(
    _ options: BridgeClient.SessionOptions = .init(name: "test", version: "1")
  ) async throws -> BridgeClient {
    let connector = FlakyConnector(
      MemoryClientConnector(to: door, Handshake(subprotocol: "waybridge.v1"), on: loop), on: loop)
    connectors.withLock { $0.append(connector) }
    let client = BridgeClient(loop: loop, connector: connector) {}
    try await client.open(options)
    return client
  }

  /// A member of the session of another.
  func join(_ client: BridgeClient) async throws -> BridgeClient {
    let join = await client.session?.join
    return try await connect(.init(name: "member", version: "1", join: join))
  }
}

/// Lets clients in to the server that is there now.
private final class Door: ChannelAcceptor {
  private let held = Mutex<LoopSessions?>(nil)

  var hub: LoopSessions? {
    get { held.withLock { $0 } }
    set { held.withLock { $0 = newValue } }
  }

  func accept(_ channel: any MessageChannel, _ handshake: Handshake) -> any MessageReceiver {
    hub?.accept(channel, handshake) ?? Nobody()
  }
}

private final class Nobody: MessageReceiver {
  func receive(_ message: RawSpan, as kind: MessageKind) {}
  func closed(_ code: UInt16?) {}
}
