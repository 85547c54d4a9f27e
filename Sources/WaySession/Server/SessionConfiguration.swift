import WayRouting
import WayTable
import WayTransport

/// The clients of a server, what they may call, and what survives their sessions.
public struct SessionConfiguration: Sendable {
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
  public var identifyTimeout: Duration = .seconds(5)
  /// Whether the server listens beyond loopback without authenticating clients. Other machines can
  /// then make every call that the ``policy`` allows for all clients.
  public var allowsAnonymous = false
  /// The policy that authorizes calls. It can be replaced while the bridge runs
  /// (`BridgeServer.setPolicy(_:)`).
  public var policy = Policy()
  /// A file with the policy, used instead of ``policy``: a JSON document of the schema
  /// `protocol/schema/policy.schema.json`. It is read again when it changes. If it is invalid then,
  /// the error is logged and the policy stays unchanged.
  public var policyFile: String?
  /// The route table of the router, from `Router.load(tableAt:)`; nil for a table that never
  /// changes. Clients that the policy allows can read and change it with `table.get`,
  /// `table.update` and `table.rollback`. Clients that subscribe to `table.changed` are notified of
  /// every change.
  public var table: LiveTable?
  /// Whether the server reloads the file of ``table`` when it is written, renamed over or replaced
  /// by a symbolic link. An invalid document, or one of an earlier version, is logged and leaves
  /// the table unchanged.
  public var watchesTableFile = false
  /// What happens to a result of a task, a page or a page's method that does not fit its declaration.
  public var resultCheck = ResultCheck.reject
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

  /// Creates a configuration that accepts every client, allows every call and stores nothing.
  public init() {}
}
