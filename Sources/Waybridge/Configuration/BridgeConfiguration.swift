import Logging
import WayRouting
import WaySession
import WaySockets
import WayTransport

/// The address of a bridge, the clients that it accepts, and what it serves besides the bridge
/// itself.
public struct BridgeConfiguration: Sendable {
  /// An address to listen on: `127.0.0.1`, `::1`, or `localhost` for both of them. Other addresses
  /// require ``identify`` to authenticate clients, or ``allowsAnonymous``: `0.0.0.0` for all IPv4
  /// addresses, `::` for all IPv4 and IPv6 addresses.
  public var host: String
  /// The TCP port; 0 selects a free one.
  public var port: Int
  /// The path of a Unix socket to listen on, instead of ``host`` and ``port``. Its mode is 0600, so
  /// that only programs of the same user connect.
  ///
  /// A socket left by a dead server is replaced. If the file belongs to a live server or is not a
  /// socket, the server does not start.
  public var unixPath: String?
  /// Whether the server listens beyond loopback without authenticating clients. Other machines can
  /// then make every call that the ``policy`` allows for all clients.
  public var allowsAnonymous = false
  /// The service manager that started the process. It is notified when the server listens and when
  /// it ends. Its socket, if it passed one, is used instead of ``host``, ``port`` and ``unixPath``.
  /// Nil notifies nothing.
  public var systemdNotifier: SystemdNotifier?
  /// The path below which everything is served, such as `/app`; empty for none. Requests outside of
  /// it get 404.
  public var prefix = ""
  /// Origins of pages that can connect, in addition to the server's own:
  /// `https://app.example.org`, with `*` for any port (`http://localhost:*`) or for the first label of the host
  /// (`https://*.example.org`), or `null`. With an invalid origin the server does not start.
  public var allowedOrigins: [String] = []
  /// Names of the server for the header Host, in addition to `127.0.0.1`, `localhost` and `[::1]`.
  /// `NAME` means that name without a port or with the server's, `NAME:PORT` only that port. Pages
  /// that are served under such a name, by `http` or `https`, have the server's own origin. With an
  /// invalid name the server does not start.
  public var allowedHosts: [String] = []
  /// Addresses of trusted proxies, which forward the client's address (`Forwarded`,
  /// `X-Forwarded-For`): IPv4, IPv6, networks such as `10.0.0.0/8`, and `unix` for programs that
  /// connect over the Unix socket. Requests through any other proxy are rejected. With an invalid
  /// address the server does not start.
  public var trustedProxies: [String] = []
  /// The header fields of a client's handshake that the app can read, case-insensitive.
  public var handshakeHeaders: [String] = []
  /// The content security policy of files; empty for none. If it has no `frame-ancestors`, only the
  /// server's own pages and those of ``allowedOrigins`` may show files in frames.
  public var contentSecurityPolicy = BridgeConfiguration.defaultContentSecurityPolicy
  /// A folder of files served at `/`; nil serves none.
  public var webRoot: String?
  /// The names at the top of `webRoot` that are served, each with everything below it; nil serves
  /// all.
  public var webEntries: [String]?
  /// Whether the JavaScript client, `bridge.js` and its imports, is served at `/bridge/` from the
  /// program itself. A folder `bridge` of `webRoot` replaces it as a whole.
  public var servesClient: Bool
  /// Whether the inspector is served at `/inspector/` from the program itself. It requires
  /// ``servesClient``. It shows the results of the methods `admin.…` to clients that the policy
  /// allows to call them. A folder `inspector` of `webRoot` replaces it.
  public var servesInspector = true
  /// Limits on what clients can use.
  public var limits: Limits
  /// The number of event loops, each a thread with its own connections and sessions: 1 to 256,
  /// clamped. 0 uses the number of cores that the process may run on.
  public var loops = 0
  /// The route table of the router, from ``Router/load(tableAt:)``; nil for a table that never
  /// changes. Clients that the policy allows can read and change it with `table.get`,
  /// `table.update` and `table.rollback`. Clients that subscribe to `table.changed` are notified of
  /// every change.
  public var table: LiveTable?
  /// Whether the server reloads the file of ``table`` when it is written, renamed over or replaced
  /// by a symbolic link. An invalid document, or one of an earlier version, is logged and leaves
  /// the table unchanged.
  public var watchesTableFile = false
  /// Adds functions for tests of clients: the JSON-RPC specification's example methods, `echo`, the
  /// task `action://echo` (replacing a route of this name), and an echo of WebSocket messages at
  /// `/echo`. It also allows as many connections as there are descriptors, instead of 10,000.
  public var enablesConformanceMethods: Bool
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
  /// How long a shutdown waits for calls in flight before it fails them with -32802. Meanwhile no
  /// session, task or page begins (2503), and every client gets the event `server.draining`.
  public var drainTimeout: Duration = .seconds(30)
  /// How long a shutdown then waits until clients have received what was sent to them. A client that
  /// has received everything delays it by at most a second.
  public var closeTimeout: Duration
  /// Authenticates a client from its handshake and the `token` of its `session.open`, if there is
  /// one. If the closure throws, the client is rejected with 2401 and the error's text; a plain
  /// connection is closed with 4001. Nil accepts every client as anonymous.
  ///
  /// It is not called for a client that joins a session without its own token: such a client shares
  /// the first client's identity, or is a guest.
  ///
  /// The closure may suspend; meanwhile no other message of its client is received. After
  /// ``identifyTimeout`` the client is rejected with 2503.
  public var identify: (@Sendable (Handshake) async throws -> Identity)?
  /// How long ``identify`` may take.
  public var identifyTimeout: Duration
  /// The policy that authorizes calls. It can be replaced while the bridge runs
  /// (``BridgeServer/setPolicy(_:)``).
  public var policy: Policy
  /// Persists sessions, so that clients resume after a crash or a restart; nil ends sessions with
  /// the server. If the store cannot be read, the server does not start.
  ///
  /// If the store fails later, the server runs without it. It reports that in its log, at `/health`
  /// (`{"status":"degraded"}`) and in its metrics. It stores everything when the store works again.
  public var store: (any SessionStore)?
  /// The cluster of this server: clients connect to any server, and another server takes over the
  /// sessions of one that ends. Its store replaces ``store``. Nil for a single server.
  /// `Cluster(nats:)` of WaybridgeCluster creates one.
  public var cluster: Cluster?
  /// A file with the policy, used instead of ``policy``: a JSON document of the schema
  /// `protocol/schema/policy.schema.json`. It is read again when it changes. If it is invalid then,
  /// the error is logged and the policy stays unchanged.
  public var policyFile: String?
  /// The keys with which ``identify`` verifies tokens, if they come from files: ``BridgeServer/reload()``
  /// reads the files again, and the metrics show their state.
  public var tokenKeys: (any ReloadableKeys)?

  /// Creates a configuration. By default it listens on port 8080 of the loopback interface and
  /// serves no files.
  public init(
    host: String = "127.0.0.1", port: Int = 8080, webRoot: String? = nil,
    webEntries: [String]? = nil, servesClient: Bool = true, limits: Limits = Limits(),
    enablesConformanceMethods: Bool = false,
    logger: Logger? = nil, closeTimeout: Duration = .seconds(5), policy: Policy = Policy(),
    identifyTimeout: Duration = .seconds(5),
    identify: (@Sendable (Handshake) async throws -> Identity)? = nil
  ) {
    self.host = host
    self.port = port
    self.webRoot = webRoot
    self.webEntries = webEntries
    self.servesClient = servesClient
    self.limits = limits
    self.enablesConformanceMethods = enablesConformanceMethods
    self.logger = logger
    self.closeTimeout = closeTimeout
    self.policy = policy
    self.identifyTimeout = identifyTimeout
    self.identify = identify
  }

  /// The number of event loops.
  var loopCount: Int { loops == 0 ? SocketLoop.coreCount : min(max(loops, 1), 256) }

  /// Allows scripts, styles and forms of the server only, and inline styles. Also allows images
  /// from `data:` and `blob:`, connections to bridges of this machine, and pages of other origins
  /// in frames.
  public static var defaultContentSecurityPolicy: String { FileHeaders.defaultPolicy }
}
