import Logging
import ServiceLifecycle
import WaySession
import WaySockets
import WayTransport

/// A bridge server. It serves a ``Router`` at `/bridge`, the JavaScript client at `/bridge/`, its
/// health at `/health`, its metrics at `/metrics`, and a folder of files.
///
/// ```swift
/// let router = Router()
/// try router.load(tableAt: "routes.json")
/// try await BridgeServer(router: router).run()
/// ```
///
/// It is a `Service` of swift-service-lifecycle: ``run()`` ends when its service group shuts down
/// gracefully.
public struct BridgeServer: Service {
  /// The version of Waybridge, which `session.open` returns in `server.version`.
  public static let version = ServerSoftware.version

  /// The methods of every bridge, which `rpc.discover` returns.
  package static var methods: [String] { SessionServer.methodNames }

  let router: Router
  let configuration: BridgeConfiguration
  private let onListening: @Sendable (BridgeServerAddress) -> Void
  let lifecycle = BridgeServerLifecycle()

  /// Creates a server that ``run()`` starts.
  ///
  /// - Parameters:
  ///   - router: the router to serve; it may be changed while the server runs.
  ///   - configuration: the address, the limits and the other settings.
  ///   - onListening: called once, on the task of ``run()``, when the server accepts connections.
  public init(
    router: Router, configuration: BridgeConfiguration = BridgeConfiguration(),
    onListening: @escaping @Sendable (BridgeServerAddress) -> Void = { _ in }
  ) {
    self.router = router
    self.configuration = configuration
    self.onListening = onListening
  }

  /// Runs the router's start handlers (``Router/start()``), then serves until a graceful shutdown
  /// or the cancellation of the task. Then waits for calls to end
  /// (``BridgeConfiguration/drainTimeout``), and closes every connection with 4200. Throws if it
  /// cannot listen, and 2409 if it already runs.
  public func run() async throws {
    try lifecycle.start()
    defer { lifecycle.stop() }
    try await router.start()
    var configuration = configuration
    let policyFile = try configuration.loadPolicyFile()
    let running = try await RunningBridge(router: router, configuration: configuration)
    lifecycle.setAccessHandler(running.setAccess)
    await activate(with: running.sessionServer)
    // Before the server listens, so that no change is missed.
    let tableEvents = await configuration.sessions.table?.events()
    let keyReloads = await configuration.tokenKeys?.reloads()
    let policyWatch = policyFile.map { file in Task { await watchPolicyFile(file) } }
    let tableWatch = Task { await watchTable(running.sessionServer, tableEvents) }
    let keyWatch = Task { await recordKeyReloads(keyReloads, of: running.sessionServer) }
    let watchdogPings = Task { await sendWatchdogPings(for: running) }
    defer {
      policyWatch?.cancel()
      tableWatch.cancel()
      keyWatch.cancel()
      watchdogPings.cancel()
    }
    onListening(running.address)
    notifyServiceManager(.listening(running.address))
    let (stopped, stop) = AsyncStream.makeStream(of: Void.self)
    await withGracefulShutdownHandler {
      await withTaskCancellationHandler {
        for await _ in stopped {}
      } onCancel: {
        stop.finish()
      }
    } onGracefulShutdown: {
      stop.finish()
    }
    notifyServiceManager(.stopping(within: shutdownTimeout))
    await running.stop(after: configuration.drainTimeout)
  }

  /// Delivers the queued links; from then on the methods of this server use the running bridge.
  func activate(with sessionServer: SessionServer) async {
    while case let links = lifecycle.activate(sessionServer), !links.isEmpty {
      for (link, audience) in links {
        // The link was validated when it was queued, so the error means that too many links wait
        // for sessions.
        do throws(CallError) {
          try await sessionServer.dispatch.deliver(link, to: audience)
        } catch {
          configuration.logger?.warning(
            "deep link discarded", metadata: ["reason": "\(error.message)"])
        }
      }
    }
  }

  /// The session server of the running bridge; throws 2503 while there is none.
  func sessionServer() throws(CallError) -> SessionServer {
    try lifecycle.sessionServer()
  }

  /// The session server of the running bridge; while there is none, the link is queued. Throws the
  /// errors of `deliver`.
  func sessionServer(
    orQueueing link: DeepLink, for audience: Audience
  ) throws(CallError) -> SessionServer? {
    try lifecycle.sessionServer(
      orQueueing: link, for: audience, limit: configuration.effectiveLimits.maxLinks)
  }
}

extension BridgeServer: CustomStringConvertible {
  /// The address that it is configured to listen on; short, since a service group prints its
  /// services.
  public var description: String {
    let network = configuration.network
    return "BridgeServer(\(network.unixPath ?? "\(network.host):\(network.port)"))"
  }
}

/// A bridge that listens until it is stopped.
package struct RunningBridge: Sendable {
  package let address: BridgeServerAddress
  package let sessionServer: SessionServer
  /// The sessions of each loop, in the order of the loops.
  private let loopSessions: [LoopSessions]
  private let loops: [SocketLoop]
  private let socketServer: SocketServer
  private let memoryTrimmer: MemoryTrimmer
  /// The blobs of the sessions; nil if the server stores none.
  package let blobs: (any BlobStore)?
  /// What happens to blobs.
  package let blobEvents = BlobEvents()
  private let awayPushes: AwayPushQueue?
  private let closeTimeout: Duration
  private let logger: Logger?

  package init(router: Router, configuration: BridgeConfiguration) async throws {
    let log = configuration.logger.map(BridgeLog.init)
    var shared = try configuration.sessionServerConfiguration(
      for: router, log: log, now: BridgeWallClock.milliseconds)
    var sockets = try configuration.socketConfiguration()
    let blobs = try configuration.blobStore(blobEvents, BridgeWallClock.milliseconds)
    self.blobs = blobs
    shared.blobs = blobs.map { [blobEvents] blobs in
      BlobTokens(
        limits: configuration.effectiveLimits, isInCluster: configuration.sessions.cluster != nil,
        tokenVoided: { blobEvents.send(.tokenVoided(client: $0)) },
        sessionEnded: { blobs.removeAll(of: $0) })
    }
    if let blobs, let tokens = shared.blobs {
      tokens.callSource = StoredCallBlobs(store: blobs, tokens: tokens)
    }
    let exporter = MetricsExporter(methods: SessionCallMeter.names(of: SessionServer.methodNames))
    if let exporter {
      shared.eventSink.durationRecorder = { exporter.recordCall($0, nanoseconds: $1) }
    }
    awayPushes = configuration.onAwayPush.map(AwayPushQueue.init)
    shared.eventSink.awayPush = awayPushes?.add
    MemoryTrimmer.limitArenas()
    let loop = try SocketLoop.start()
    var loops = [loop]
    do {
      for _ in 1..<configuration.loopCount { loops.append(try SocketLoop.start()) }
    } catch {
      for loop in loops { await loop.shutdown() }
      throw error
    }
    let sessionServer = SessionServer(shared, loopCount: loops.count)
    self.sessionServer = sessionServer
    sockets.onRejection = { request in
      sessionServer.rejectionLog.add(
        .request, request.status, request.reason, address: request.address, remedy: request.hint)
      log?.logRejectedRequest(request)
      if let record = AuditRecord(refusing: request) {
        sessionServer.auditTrail?.recordThrottled(record)
      }
    }
    loopSessions = loops.map { sessionServer.dispatch.makeLoopSessions(on: $0) }
    socketServer = SocketServer(
      configuration: sockets, endpoints: configuration.endpoints(sessionServer), loop: loop,
      others: Array(loops.dropFirst()))
    let metrics = BridgeMetrics(
      sessionServer: sessionServer, socketServer: socketServer,
      lagProbes: loops.map { LoopLagMetrics(loop: $0) },
      liveTable: configuration.sessions.table, tokenKeys: configuration.tokenKeys,
      awayPushes: awayPushes)
    do {
      try await sessionServer.dispatch.restore()
      blobs?.start(on: loop) { sessionServer.hasSession($0) }
      let bound = try await socketServer.start(
        responder: BridgeResponder.make(
          webEntries: configuration.web.entries, embedded: sockets.embeddedFiles, metrics: metrics,
          on: loop, post: configuration.rpcEndpoint(sessionServer),
          blobs: blobs.map {
            BlobResponder(
              store: $0, sessionServer: sessionServer, loop: loop,
              limits: configuration.effectiveLimits)
          }))
      address = BridgeServerAddress(bound)
    } catch {
      await blobs?.close()
      await sessionServer.closeStore()
      for loop in loops { await loop.shutdown() }
      throw error
    }
    exporter?.start(on: loop) { await metrics.families() }
    configuration.logger?.info(
      "listening",
      metadata: ["address": .stringConvertible(address), "loops": "\(loops.count)"])
    memoryTrimmer = MemoryTrimmer(loop: loop)
    self.loops = loops
    closeTimeout = configuration.closeTimeout
    logger = configuration.logger
  }

  /// Applies new access rules to further connections.
  func setAccess(_ rules: AccessRules) { socketServer.apply(rules) }

  /// Returns when each loop has run once.
  func waitForLoops() async {
    for loop in loops {
      await withCheckedContinuation { continuation in loop.execute { continuation.resume() } }
    }
  }

  /// Waits up to `time` for calls in flight, fails the rest with -32802, closes every connection
  /// with 4200 and ends the loops.
  package func stop(after time: Duration = .zero) async {
    logger?.info("draining")
    await sessionServer.drain(for: time)
    await sessionServer.drain()
    await socketServer.stop(drain: .drain, grace: closeTimeout)
    await sessionServer.closeEventStreams()
    await sessionServer.closeStore()
    await blobs?.close()
    for loop in loops { await loop.shutdown() }
    await awayPushes?.stop()
    sessionServer.auditTrail?.finish()
    logger?.info("stopped")
  }
}

extension BridgeConfiguration {
  /// The endpoints that accept WebSocket connections.
  fileprivate func endpoints(_ sessionServer: SessionServer) -> [Endpoint] {
    let limits = sessionServer.configuration.limits
    let bridge = Endpoint(
      path: "/bridge", subprotocols: [Handshake.sessionSubprotocol], maxMessage: limits.maxMessage,
      maxMessageBeforeAdmission: sessions.identify == nil ? nil : limits.maxHello,
      acceptor: ConnectionAcceptor(sessionServer))
    guard enablesConformanceMethods else { return [bridge] }
    return [
      bridge,
      Endpoint(
        path: "/echo", subprotocols: [], maxMessage: 64 << 20, maxBuffered: 128 << 20,
        acceptor: BridgeEchoAcceptor()),
    ]
  }
}
