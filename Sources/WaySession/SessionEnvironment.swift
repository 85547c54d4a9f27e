import Logging
import Tracing
import WayNavigation
import WayRPC
import WayRouting
import WayTable
import WayTransport
import WayValues

/// The owner of the sessions of one loop, which they notify of changes. Called on the loop.
protocol SessionOwner: AnyObject, Sendable {
  /// Handles the end of a session, which its last client has left. Other sessions may open its
  /// unopened deep links, `unclaimed`.
  func sessionEnded(_ session: String, unclaimed: [UnclaimedLinks.UnclaimedLink])
  /// Removes and returns the deep links that arrived for a session before it could open them.
  func claimDeepLinks(for session: String) -> [UnclaimedLinks.UnclaimedLink]
  /// Puts back deep links that the session cannot open now.
  func restoreDeepLinks(_ links: [UnclaimedLinks.UnclaimedLink])
  /// Delivers an event of the session, or of one of its clients, to the Swift code that listens to it.
  func deliverEvent(_ event: BridgeEvent)
  /// Whether the app authenticates clients.
  var authenticatesClients: Bool { get }
  /// Authenticates a client. Fails with 2401, and with 2503 if that took too long.
  func identity(of handshake: Handshake) async throws(CallError) -> Identity
  /// Records that a client's token was rejected.
  func recordRejectedToken(_ reason: String, of client: EventClient)
  /// Updates the identity of a session.
  func updateIdentity(_ session: String, _ identity: Identity)
  /// Returns the declared routes without a host, and the hosts and handlers without a declared
  /// route.
  func auditRoutes() async -> HostRouteAudit
  /// Whether an administrator has removed the client of a caller, here or at another server.
  func isRevoked(_ caller: Caller) -> Bool
  /// Ends the inspection of a client that has left, if it has one.
  func endInspection(_ client: Client)
  /// Starts sending a client the records of sessions: those of this loop from now on, those of
  /// other loops soon. Call on the loop.
  func startInspection(_ filter: InspectorFilter, _ feed: InspectorFeed) -> InspectionStart
  /// The number of the last event that was published in the sessions. Call on the loop.
  var lastEventNumber: UInt64 { get }
  /// Returns the number of an event that is published in the sessions. Call on the loop.
  func makeEventNumber() -> UInt64
  /// Returns the events that the app retains for a client and whose topics are wanted, in no order.
  func retainedEvents(
    for session: String, client: String, where isWanted: @Sendable (String) -> Bool
  ) -> [PublishedEvent]
}

/// The operations of clients and of the app in sessions that may be at any server of the cluster. Usable
/// from any thread.
protocol SessionOperations: Sendable {
  /// Returns a page of the sessions of all servers, each as its entry in the result of `session.list`.
  func sessionList(_ query: SessionListQuery) async -> [Value]
  /// Shares the table with this stamp, which has changed here, with the other servers. Returns the
  /// response of each server, or the reason why the table is in force here only; `nil` if there is no
  /// cluster. Fails if another server was faster, whose table has replaced this one.
  func shareTable(_ stamp: TableStamp) async throws(CallError)
    -> Result<[PeerResponse<Value>], CallError>?
  /// Performs a request in sessions that are not those of its client. The details of the result have at
  /// most `maxBytes` as JSON. Fails if it cannot be started. `rights` are `nil` for the app.
  func push(_ push: SessionPush, by rights: Rights?, maxBytes: Int) async throws(CallError)
    -> SessionPushResult
  /// Returns the state of the client of a caller. Fails if a server that may have the client does not
  /// respond.
  func callerStatus(of caller: Caller) async throws(CallError) -> CallerStatus
  /// Removes clients of any session, for an administrator, or for the app if `caller` is `nil`. Returns
  /// their names. Fails with 2404 if there is no such session or client.
  func revoke(_ revocation: SessionRevocation, by caller: Caller?) async throws(CallError)
    -> [String]
  /// Restores rules that were in force before, by their hash.
  func rollBack(
    toPolicy hash: String, expecting expected: String?, for caller: Caller
  ) async throws(CallError) -> ChangeResult
  /// Returns the result of an inspection query.
  func inspect(_ query: InspectionQuery) async throws(CallError) -> Value
  /// Fetches the deep links that wait at other servers and that a session of this server may open.
  func fetchDeepLinks(for session: String, of identity: Identity)
  /// Sends a request to a client of another server, which hosts a call. Returns the client's response.
  /// `session` is the session of the call. Fails if the other server does not respond.
  func request(
    _ method: String, _ params: Value, at host: RemoteHost, for caller: PeerCaller,
    of session: String, progress: @escaping @Sendable (Value) -> Void
  ) async throws(CallError) -> Result<Value, SessionClientRequestFailure>
}

/// What a session gets from its server and its loop.
struct SessionEnvironment: Sendable {
  let loop: any EventLoop
  /// This server as part of a cluster; `nil` if there is no cluster.
  let cluster: ClusterNode?
  let router: Router
  let limits: Limits
  /// The limits in the result of `session.open`.
  let announcedLimits: Value
  /// The memory budget of all sessions.
  let budget: ByteBudget
  let meter: SessionCallMeter
  let scheduler: SessionLoopScheduler
  let resumableClients: ResumableClients
  let eventSink: EventSink
  /// The kinds of events that have observers outside of the sessions.
  let observedKinds: ObservedEventKinds
  /// The records of administrative actions and refusals; `nil` if nobody reads them.
  let auditTrail: AuditTrail?
  let inspector: Inspector
  /// The wall clock: milliseconds since 1970-01-01 UTC.
  let now: @Sendable () -> Int64
  let owner: any SessionOwner
  let operations: any SessionOperations
  /// The hosts that clients offer for the calls of all sessions.
  let serverHosts: ServerHosts
  /// The rules for all clients.
  let policy: PolicySource
  /// What happens to results that do not fit their declarations, and how many there were.
  let resultCheck: ResultCheck
  let invalidResults: InvalidResultCounts
  /// The clients' access to blobs; `nil` if the server has none.
  let blobs: BlobTokens?
  /// The route table that can be changed; `nil` if the app has none.
  let table: LiveTable?
  /// Receives the spans of calls; `nil` if the app has no tracer.
  let tracer: (any Tracer)?
  /// The logger that callers' loggers extend; `nil` if nothing is logged.
  let logger: Logger?
}
