import Synchronization
import TestSupport
import WayTransport
import Waybridge
import WaybridgeClient

@testable import WaySession

/// A bridge in memory that ends abruptly and restarts with the contents of its store, with clients
/// that reconnect.
final class DurableServerFixture: Sendable {
  let loop = MemoryLoop()
  let store = MemorySessionStore()
  private let acceptor = RestartableAcceptor()
  private let routes: @Sendable (Router) throws -> Void
  private let connectors = Mutex<[FlakyConnector]>([])

  /// Creates a server that registers these routes at every start.
  init(_ routes: @escaping @Sendable (Router) throws -> Void = { _ in }) async throws {
    self.routes = routes
    try await start()
  }

  private func start() async throws {
    let router = Router()
    try routes(router)
    var configuration = BridgeConfiguration()
    configuration.sessions.store = store
    let server = BridgeServer(router: router, configuration: configuration)
    let hub = try await server.startInMemory(on: loop) { [loop] in
      Int64(loop.nanoseconds / 1_000_000)
    }
    try await hub.sessionServer.dispatch.restore()
    acceptor.loopSessions = hub
  }

  /// Makes the store save all changes so far.
  func flushStore() async {
    await loop.advance(by: .milliseconds(200))
    await acceptor.loopSessions?.writer?.flush()
    await loop.settle()
  }

  /// Cuts all connections and restarts the server; then the clients reconnect. If `isSudden` is
  /// set, changes that ``flushStore()`` has not saved are lost.
  func restart(isSudden: Bool = false, meanwhile: () async throws -> Void = {}) async throws {
    if isSudden { await store.fail(with: SessionStoreError.leaseLost(sessions: [])) }
    let connectors = connectors.withLock { $0 }
    for connector in connectors {
      connector.isReachable = false
      await connector.disconnect()
    }
    await loop.settle()
    try await meanwhile()
    await store.fail(with: nil)
    try await start()
    for connector in connectors { connector.isReachable = true }
    await loop.advance(by: .seconds(31))
  }

  /// Cuts all connections.
  func disconnectAll() async {
    for connector in connectors.withLock({ $0 }) { await connector.disconnect() }
    await loop.settle()
  }

  /// Connects a client that reconnects.
  func connect(
    _ options: BridgeClient.SessionOptions = .init(name: "test", version: "1")
  ) async throws -> BridgeClient {
    let connector = FlakyConnector(
      ClientMemoryConnector(to: acceptor, Handshake(subprotocol: "waybridge.v1"), on: loop),
      on: loop)
    connectors.withLock { $0.append(connector) }
    let client = BridgeClient(loop: loop, connector: connector) {}
    try await client.open(options)
    return client
  }

  /// Joins the session of another client.
  func join(_ client: BridgeClient) async throws -> BridgeClient {
    let join = await client.session?.join
    return try await connect(.init(name: "member", version: "1", join: join))
  }
}

/// Accepts clients for the current server.
private final class RestartableAcceptor: ChannelAcceptor {
  private let current = Mutex<LoopSessions?>(nil)

  var loopSessions: LoopSessions? {
    get { current.withLock { $0 } }
    set { current.withLock { $0 = newValue } }
  }

  func accept(_ channel: any MessageChannel, _ handshake: Handshake) -> any MessageReceiver {
    guard let server = loopSessions?.sessionServer else { return IgnoringReceiver() }
    return ConnectionAcceptor(server).accept(channel, handshake)
  }
}

private final class IgnoringReceiver: MessageReceiver {
  func receive(_ message: RawSpan, as kind: MessageKind) {}
  func closed(_ code: UInt16?) {}
}
