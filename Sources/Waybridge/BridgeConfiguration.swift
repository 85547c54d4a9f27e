import Logging
import WayRouting
import WaySession
import WayTransport

/// Where a bridge listens and what it serves beside the bridge itself.
public struct BridgeConfiguration: Sendable {
  /// A loopback address: `127.0.0.1`, `localhost` or `::1`. Others are refused at start.
  public var host: String
  /// The TCP port; 0 takes any free one.
  public var port: Int
  /// A folder of files served at `/`; nil serves none.
  public var webRoot: String?
  /// The names at the top of `webRoot` that are served, each with all below it; nil serves all.
  public var webEntries: [String]?
  /// Whether the JavaScript client is served at `/bridge/`, from the program itself: `bridge.js`
  /// and what it imports. A folder `bridge` of `webRoot` goes before it, as a whole.
  public var servesClient: Bool
  /// Bounds on what clients choose.
  public var limits: Limits
  /// The version of the loaded route table, as clients are told it.
  public var tableVersion: String
  /// Adds the JSON-RPC specification's example methods, `echo`, the task `action://echo` (in the
  /// place of a route of this name), and an echo of WebSocket messages at `/echo`, for tests of
  /// clients. It also takes as many connections as there are descriptors, instead of 10,000.
  public var conformance: Bool
  /// Takes what happens: `info` the start, the end, sessions and their clients; `warning` what was
  /// refused, clients that read too slowly and hosts that do not answer, at most ten a second;
  /// `debug` every call, where that is the logger's level when the bridge starts. What peers sent
  /// is printable and short; queries of URIs and params are left out. Nil tells nothing.
  public var logger: Logger?
  /// How long a shutdown waits for connections to close.
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

  /// Listens on port 8080 of the loopback interface and serves no files, where nothing else is
  /// given.
  public init(
    host: String = "127.0.0.1", port: Int = 8080, webRoot: String? = nil,
    webEntries: [String]? = nil, servesClient: Bool = true, limits: Limits = Limits(),
    tableVersion: String = "", conformance: Bool = false,
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
    self.tableVersion = tableVersion
    self.conformance = conformance
    self.logger = logger
    self.grace = grace
    self.policy = policy
    self.identifyTimeout = identifyTimeout
    self.identify = identify
  }
}

/// Where a bridge listens.
public struct BoundAddress: Sendable, Hashable, CustomStringConvertible {
  /// The address as a URL has it, an IPv6 address in brackets.
  public let host: String
  /// The port that was taken, also where 0 was asked for.
  public let port: Int

  /// `http://HOST:PORT`
  public var description: String { "http://\(host):\(port)" }
}
