import Logging
import ServiceLifecycle
import WaySession
import WaySockets
import WayTransport

/// A bridge: serves a ``Router`` at `/bridge`, the JavaScript client at `/bridge/`, its health at
/// `/health`, its metrics at `/metrics`, and a folder of files.
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
  /// The version of Waybridge, as `session.open` tells it in `server.version`.
  public static let version = ServerSoftware.version

  /// The methods that every bridge has, as `rpc.discover` tells them.
  package static var methods: [String] { SessionServer.methods }

  let router: Router
  let configuration: BridgeConfiguration
  private let onListening: @Sendable (BoundAddress) -> Void
  let slot = RunningSlot()

  /// A server that ``run()`` starts.
  ///
  /// - Parameters:
  ///   - router: what it serves; it may be changed while the server runs.
  ///   - configuration: where it listens, and what it bounds.
  ///   - onListening: called once, on the task of ``run()``, when connections are taken.
  public init(
    router: Router, configuration: BridgeConfiguration = BridgeConfiguration(),
    onListening: @escaping @Sendable (BoundAddress) -> Void = { _ in }
  ) {
    self.router = router
    self.configuration = configuration
    self.onListening = onListening
  }

  /// Carries out the router's start (``Router/start()``), then serves until a graceful shutdown or
  /// the cancellation of the task; then lets calls end (``BridgeConfiguration/drain``), and closes
  /// every connection with 4200. Throws when it cannot listen, and 2409 while it runs already.
  public func run() async throws {
    try slot.start()
    defer { slot.ended() }
    try await router.start()
    var configuration = configuration
    let watch = try configuration.readPolicy()
    let running = try await RunningBridge(router: router, configuration: configuration)
    slot.listens(running.setAccess)
    await open(to: running.group)
    let watching = watch.map { file in Task { await follow(file) } }
    let table = Task { await followTable(running.group) }
    let signs = Task { await giveSigns(ofLifeOf: running) }
    defer {
      watching?.cancel()
      table.cancel()
      signs.cancel()
    }
    onListening(running.address)
    tell(.listening(running.address))
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
    tell(.stopping(within: longestStop))
    await running.stop(after: configuration.drain)
  }

  /// Hands over the links that have waited; from then on the methods of this server find the
  /// bridge.
  func open(to group: SessionServer) async {
    while case let links = slot.begin(group), !links.isEmpty {
      for (link, audience) in links {
        // It was checked when it came, so too many wait for sessions by now.
        do throws(CallError) { try await group.allServers.deliver(link, to: audience) } catch {
          configuration.logger?.warning("link given up", metadata: ["reason": "\(error.message)"])
        }
      }
    }
  }

  /// The hubs of the bridge that runs; fails with 2503 while there is none.
  func group() throws(CallError) -> SessionServer {
    try slot.group()
  }

  /// The bridge that runs; while there is none the link is kept for it. Fails as its `deliver`
  /// would.
  func group(
    orKeeping link: DeepLink, for audience: Audience
  ) throws(CallError) -> SessionServer? {
    try slot.group(
      orKeeping: link, for: audience, limit: configuration.keptLimits.maxLinks)
  }
}

extension BridgeServer: CustomStringConvertible {
  /// Where it is to listen; short, since a service group prints its services.
  public var description: String {
    "BridgeServer(\(configuration.unixPath ?? "\(configuration.host):\(configuration.port)"))"
  }
}

/// A bridge that listens, until it is stopped.
package struct RunningBridge: Sendable {
  package let address: BoundAddress
  package let group: SessionServer
  /// One for each loop, in their order.
  private let hubs: [LoopSessions]
  private let loops: [SocketLoop]
  private let server: SocketServer
  private let memory: MemoryTrim
  private let grace: Duration
  private let logger: Logger?

  package init(router: Router, configuration: BridgeConfiguration) async throws {
    let log = configuration.logger.map(BridgeLog.init)
    var shared = try configuration.hub(serving: router, log: log, now: ServerWallClock.milliseconds)
    var sockets = try configuration.sockets()
    let export = MetricsExporter(methods: SessionCallMeter.names(of: SessionServer.methods))
    if let export { shared.observer.timed = { export.ended($0, nanoseconds: $1) } }
    MemoryTrim.share()
    let loop = try SocketLoop.start()
    var loops = [loop]
    do {
      for _ in 1..<configuration.loopCount { loops.append(try SocketLoop.start()) }
    } catch {
      for loop in loops { await loop.shutdown() }
      throw error
    }
    let group = SessionServer(shared, size: loops.count)
    self.group = group
    sockets.onRefused = { status, reason, hint, address in
      group.refusals.add(.request, status, reason, address: address, remedy: hint)
      log?.refused(status, reason, hint)
    }
    hubs = loops.map { LoopSessions(loop: $0, in: group) }
    server = SocketServer(
      configuration: sockets, endpoints: configuration.endpoints(group), loop: loop,
      others: Array(loops.dropFirst()))
    let metrics = BridgeMetrics(
      group: group, server: server, lags: loops.map { LagProbe(loop: $0) },
      liveTable: configuration.table)
    do {
      try await group.restore()
      let bound = try await server.start(
        responder: BridgeResponder.make(
          webEntries: configuration.webEntries, embedded: sockets.embeddedFiles, metrics: metrics,
          on: loop, post: configuration.post(group)))
      address = BoundAddress(bound)
    } catch {
      await group.closeStore()
      for loop in loops { await loop.shutdown() }
      throw error
    }
    export?.begin(on: loop) { await metrics.families() }
    configuration.logger?.info(
      "listening",
      metadata: ["address": .stringConvertible(address), "loops": "\(loops.count)"])
    memory = MemoryTrim(loop: loop)
    self.loops = loops
    grace = configuration.grace
    logger = configuration.logger
  }

  /// From now on others are let in.
  func setAccess(_ rules: AccessRules) { server.set(rules) }

  /// Returns when each loop has had a turn.
  func turn() async {
    for loop in loops {
      await withCheckedContinuation { continuation in loop.execute { continuation.resume() } }
    }
  }

  /// Lets calls in flight end within `time`, answers the rest with -32802, closes every connection
  /// with 4200 and ends the loops.
  package func stop(after time: Duration = .zero) async {
    logger?.info("draining")
    await group.drain(for: time)
    await group.drain()
    await server.stop(drain: .drain, grace: grace)
    await group.endListening()
    await group.closeStore()
    for loop in loops { await loop.shutdown() }
    logger?.info("stopped")
  }
}

extension BridgeConfiguration {
  /// Where WebSocket connections are taken.
  fileprivate func endpoints(_ group: SessionServer) -> [Endpoint] {
    let bridge = Endpoint(
      path: "/bridge", subprotocols: [LoopSessions.subprotocol],
      maxMessage: group.configuration.limits.maxMessage, acceptor: group)
    guard conformance else { return [bridge] }
    return [
      bridge,
      Endpoint(
        path: "/echo", subprotocols: [], maxMessage: 64 << 20, maxBuffered: 128 << 20,
        acceptor: EchoAcceptor()),
    ]
  }
}
