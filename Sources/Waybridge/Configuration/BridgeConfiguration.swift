import Logging
import WaySession
import WaySockets
import WayTransport

/// The address of a bridge, the clients that it accepts, and what it serves besides the bridge
/// itself.
///
/// ```swift
/// var configuration = BridgeConfiguration(port: 8080)
/// configuration.network.allowedOrigins = ["https://app.example.org"]
/// configuration.sessions.store = try SQLiteSessionStore(folder: "data")
/// ```
public struct BridgeConfiguration: Sendable {
  /// The address to listen on, and the connections to accept there.
  public var network = NetworkConfiguration()
  /// The files to serve.
  public var web = WebConfiguration()
  /// Limits on what clients can use.
  public var limits = Limits()
  /// The clients of sessions, what they may call, and what survives the sessions.
  public var sessions = SessionConfiguration()
  /// The blobs of sessions: data that is too large for a message.
  public var blobs = BlobConfiguration()
  /// The number of event loops, each a thread with its own connections and sessions: 1 to 256,
  /// clamped. 0 uses the number of cores that the process may run on.
  public var loops = 0
  /// The service manager that started the process. It is notified when the server listens and when
  /// it ends. Its socket, if it passed one, is used instead of the address of ``network``.
  /// Nil notifies nothing.
  public var systemdNotifier: SystemdNotifier?
  /// Adds functions for tests of clients: the JSON-RPC specification's example methods, `echo`, the
  /// task `action://echo` (replacing a route of this name), and an echo of WebSocket messages at
  /// `/echo`. It also allows as many connections as there are descriptors, instead of 10,000.
  public var enablesConformanceMethods = false
  /// The logger; nil logs nothing.
  ///
  /// - `info`: the start, the end, sessions and their clients
  /// - `notice`: audit records, see ``onAudit``, if that is the logger's level when the bridge starts
  /// - `warning`: rejections, slow clients and hosts that do not respond; of each kind and each
  ///   address at most ten a second
  /// - `debug`: every call, if that is the logger's level when the bridge starts
  ///
  /// Strings of clients are printable and short; queries of URIs and params are omitted.
  public var logger: Logger?
  /// Receives a record of each administrative action and each refusal, on any thread; it must return
  /// at once. The ``logger`` gets the same records.
  ///
  /// - Each change by an administrator has a record.
  /// - Of the refusals of a client by one rule, at most ten a second have a record.
  /// - Of the same requests of an administrator that change nothing, the first has a record.
  ///
  /// The numbers of the others follow, see ``AuditRecord/AuditResult/suppressed(count:rule:)``.
  public var onAudit: (@Sendable (AuditRecord) -> Void)?
  /// A push service for users that are away: receives each push that has reached no client with a
  /// connection, outside of the loops, without delaying the push. Runs at most eight times at once.
  /// Up to 1,024 further pushes wait; the metric `waybridge_away_pushes_total` counts those that are
  /// dropped. A shutdown cancels its tasks, and loses the pushes that wait.
  ///
  /// A push has reached a session in vain if all its clients have lost their connections, and a user if
  /// no session of the user has received it. Methods of pages and of the clients' own are left out.
  public var onAwayPush: (@Sendable (AwayPush) async -> Void)?
  /// How long a shutdown waits for calls in flight before it fails them with -32802. Meanwhile no
  /// session, task or page begins (2503), and every client gets the event `server.draining`.
  public var drainTimeout: Duration = .seconds(30)
  /// How long a shutdown then waits until clients have received what was sent to them. A client that
  /// has received everything delays it by at most a second.
  public var closeTimeout: Duration = .seconds(5)
  /// The keys with which ``SessionConfiguration/identify`` verifies tokens, if they come from files: ``BridgeServer/reload()``
  /// reads the files again, and the metrics show their state.
  public var tokenKeys: (any ReloadableKeys)?

  /// Creates a configuration. By default it listens on port 8080 of the loopback interface, serves no
  /// folder, and accepts every client.
  public init(
    port: Int = 8080, webRoot: String? = nil, limits: Limits = Limits(),
    enablesConformanceMethods: Bool = false, logger: Logger? = nil, policy: Policy = Policy(),
    identify: (@Sendable (Handshake) async throws -> Identity)? = nil
  ) {
    network.port = port
    web.root = webRoot
    self.limits = limits
    self.enablesConformanceMethods = enablesConformanceMethods
    self.logger = logger
    sessions.policy = policy
    sessions.identify = identify
  }

  /// The number of event loops.
  var loopCount: Int { loops == 0 ? SocketLoop.coreCount : min(max(loops, 1), 256) }
}
