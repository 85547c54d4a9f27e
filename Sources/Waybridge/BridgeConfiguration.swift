import Logging
import WayRouting
import WaySession
import WaySockets
import WayTransport

/// Where a bridge listens, who comes in, and what it serves beside the bridge itself.
public struct BridgeConfiguration: Sendable {
  /// An address to listen on: `127.0.0.1`, `localhost` or `::1`; others only where ``identify`` tells
  /// clients apart, or ``allowsAnonymous`` is set.
  public var host: String
  /// The TCP port; 0 takes any free one.
  public var port: Int
  /// The path of a Unix socket to listen at, in the place of ``host`` and ``port``: of mode 0600, so
  /// that only programs of the same user connect. What a dead server has left there is taken over;
  /// the file of a live one, and one that is no socket, are refused at start.
  public var unixPath: String?
  /// Whether an address beyond loopback is listened on although nobody is asked who they are: other
  /// machines then call whatever the ``policy`` lets everybody call.
  public var allowsAnonymous = false
  /// Who has started the process: told when the server listens and when it ends, and whose socket is
  /// listened on, in the place of ``host``, ``port`` and ``unixPath``. Nil tells nobody.
  public var serviceManager: SystemdNotifier?
  /// The path below which everything is served, such as `/app`; empty for none. Anything outside of
  /// it is answered 404.
  public var prefix = ""
  /// Origins whose pages come in, besides the server's own: `https://app.example.org`, with `*` for
  /// any port (`http://localhost:*`) or for the first label of the host
  /// (`https://*.example.org`), or `null`. One that is none is refused at start.
  public var allowedOrigins: [String] = []
  /// Names of the server besides `127.0.0.1`, `localhost` and `[::1]`, for the header Host:
  /// `NAME` means that name without a port or with the server's, `NAME:PORT` only that port. The
  /// pages that are served under such a name, by `http` or `https`, are the server's own. One that
  /// is none is refused at start.
  public var allowedHosts: [String] = []
  /// Addresses of the proxies that say for whom they ask (`Forwarded`, `X-Forwarded-For`): IPv4, IPv6,
  /// networks such as `10.0.0.0/8`, and `unix` for whoever comes by the Unix socket. What comes by
  /// any other proxy is refused. One that is none is refused at start.
  public var trustedProxies: [String] = []
  /// The header fields of a client's handshake that the app is shown, in any case.
  public var handshakeHeaders: [String] = []
  /// The content security policy that files are served with; empty for none. Where it has no
  /// `frame-ancestors`, only the server's own pages and those of ``allowedOrigins`` may show them in
  /// frames.
  public var contentSecurityPolicy = BridgeConfiguration.usualContentSecurityPolicy
  /// A folder of files served at `/`; nil serves none.
  public var webRoot: String?
  /// The names at the top of `webRoot` that are served, each with all below it; nil serves all.
  public var webEntries: [String]?
  /// Whether the JavaScript client is served at `/bridge/`, from the program itself: `bridge.js`
  /// and what it imports. A folder `bridge` of `webRoot` goes before it, as a whole.
  public var servesClient: Bool
  /// Whether the inspector is served at `/inspector/`, from the program itself, where
  /// ``servesClient`` is set, which it needs. It shows what the methods `admin.…` tell, to those whom
  /// the policy lets call them. A folder `inspector` of `webRoot` goes before it.
  public var servesInspector = true
  /// Bounds on what clients choose.
  public var limits: Limits
  /// How many event loops serve, each a thread with connections and sessions of its own: 1 to 256;
  /// others are taken for the nearest, and 0 for as many as there are cores that the process may run
  /// on.
  public var loops = 0
  /// The route table of the router, from ``Router/load(tableAt:)``, so that it can be looked at and
  /// changed over the wire (`table.get`, `table.update`, `table.rollback`), by those whom the policy
  /// lets; clients that subscribe to `table.changed` are told of changes, whoever makes them. Nil for
  /// a table that stays as it is.
  public var table: LiveTable?
  /// Whether the file that ``table`` was read from is followed: another document in it is taken
  /// when it is written, renamed over it or linked to; one that is wrong, or of an earlier version,
  /// is logged, and leaves the table as it is.
  public var followsTableFile = false
  /// Adds the JSON-RPC specification's example methods, `echo`, the task `action://echo` (in the
  /// place of a route of this name), and an echo of WebSocket messages at `/echo`, for tests of
  /// clients. It also takes as many connections as there are descriptors, instead of 10,000.
  public var conformance: Bool
  /// Takes what happens: `info` the start, the end, sessions and their clients; `warning` what was
  /// refused, clients that read too slowly and hosts that do not answer, at most ten a second;
  /// `debug` every call, where that is the logger's level when the bridge starts. What peers sent
  /// is printable and short; queries of URIs and params are left out. Nil tells nothing.
  public var logger: Logger?
  /// How long a shutdown lets calls in flight end, before it answers them with -32802. Meanwhile no
  /// session, task or page begins (2503), and every client has the event `server.draining`.
  public var drain: Duration = .seconds(30)
  /// How long a shutdown then waits for connections to close.
  public var grace: Duration
  /// Who a client is: called with what its handshake shows and the `token` of its `session.open`,
  /// where it has one. What it throws refuses the client with 2401 and the error's text; a plain
  /// connection is closed with 4001. Nil takes everybody as nobody in particular. Not asked is who
  /// joins a session without a token of its own: that is its first client again, or a guest.
  ///
  /// It may wait, while nothing else of its client is received; beyond ``identifyTimeout`` the
  /// client is refused with 2503.
  public var identify: (@Sendable (Handshake) async throws -> Identity)?
  /// How long ``identify`` may take.
  public var identifyTimeout: Duration
  /// Who may call what; its rules can be exchanged while the bridge runs
  /// (``BridgeServer/follow(_:)``).
  public var policy: Policy
  /// Keeps sessions beyond the life of the server, so that clients go on after a crash or a restart;
  /// nil ends them with it. Where it cannot be read, the server does not start. Where it takes
  /// nothing later, the server goes on without it, says so in its log, at `/health`
  /// (`{"status":"degraded"}`) and in its metrics, and hands everything over when it can again.
  public var store: (any SessionStore)?
  /// The servers that this is one of: clients come in at any of them, and another goes on with the
  /// sessions of one that ends. Its store is in the place of ``store``. Nil for a server alone.
  /// `Cluster(nats:)` of WaybridgeCluster makes one.
  public var cluster: Cluster?
  /// A file that holds the policy, in the place of ``policy``: a JSON document of the schema
  /// `protocol/schema/policy.schema.json`. It is read again when it changes; one that is wrong by
  /// then is logged, and leaves the policy as it is.
  public var policyFile: String?

  /// Listens on port 8080 of the loopback interface and serves no files, where nothing else is
  /// given.
  public init(
    host: String = "127.0.0.1", port: Int = 8080, webRoot: String? = nil,
    webEntries: [String]? = nil, servesClient: Bool = true, limits: Limits = Limits(),
    conformance: Bool = false,
    logger: Logger? = nil, grace: Duration = .seconds(5), policy: Policy = Policy(),
    identifyTimeout: Duration = .seconds(5),
    identify: (@Sendable (Handshake) async throws -> Identity)? = nil
  ) {
    self.host = host
    self.port = port
    self.webRoot = webRoot
    self.webEntries = webEntries
    self.servesClient = servesClient
    self.limits = limits
    self.conformance = conformance
    self.logger = logger
    self.grace = grace
    self.policy = policy
    self.identifyTimeout = identifyTimeout
    self.identify = identify
  }

  /// How many loops there are to be.
  var loopCount: Int { loops == 0 ? SocketLoop.coreCount : min(max(loops, 1), 256) }

  /// Scripts, styles and forms of the server's own alone; styles also within a page, images also
  /// from `data:` and `blob:`; connections to bridges of this machine; pages of others in frames.
  public static var usualContentSecurityPolicy: String { FileHeaders.usualPolicy }
}
