import Logging
import Tracing
import WayRPC
import WayRouting
import WayTable
import WayTransport
import WayValues

/// Who knows the sessions of one loop, and is told of them. Called on the loop.
protocol SessionOwner: AnyObject, Sendable {
  /// The session is over: its last member has left. Others may follow the links from outside that
  /// it has not.
  func ended(_ session: String, unfollowed: [UnclaimedLinks.Link])
  /// Hands out the links from outside that came for a session before anybody could follow them.
  func takeLinks(for session: String) -> [UnclaimedLinks.Link]
  /// Keeps those that the session cannot follow now.
  func putBack(_ links: [UnclaimedLinks.Link])
  /// The session tells an event of its own that Swift code listens to.
  func heard(_ event: BridgeEvent)
  /// Whether the app tells who clients are.
  var identifies: Bool { get }
  /// Who a client is. Fails with 2401, and with 2503 where that took too long.
  func identity(of handshake: Handshake) async throws(CallError) -> Identity
  /// A token that a member showed was refused.
  func tokenRefused(_ reason: String, address: String?)
  /// A session is somebody anew.
  func changed(_ session: String, _ identity: Identity)
  /// The sessions as they are now, those of all loops.
  func sessionInfos() async -> [SessionInfo]
  /// What is declared and nobody serves, and the other way round.
  func recheck() async -> HostRouteAudit
  /// The table has changed here: so it does on the other servers. What each has answered, nil for one
  /// alone.
  func shareTable() async -> Result<[Value], CallError>?
  /// Does what a client asks for in sessions that are not its own. Fails where it cannot be begun.
  func push(_ push: Push, by rights: Rights) async throws(CallError) -> [Value]
  /// A client has left that may have watched.
  func watcherLeft(_ client: Client)
  /// From now on a client is told what happens in sessions, and in those of other loops soon. Call
  /// on the loop.
  func watch(_ wish: InspectorFilter, _ collector: InspectorFeed) -> WatchBeginning
  /// Has rules hold again that were in force before, by their hash.
  func goBack(
    toPolicy hash: String, expecting expected: String?, for caller: Caller
  ) async throws(CallError) -> Value
  /// What who inspects the server asks.
  func inspect(_ question: InspectionQuery) async throws(CallError) -> Value
  /// The `event` messages that the app retains for a client, of those topics that are wanted,
  /// oldest first.
  func retained(
    for session: String, client: String, where isWanted: @Sendable (String) -> Bool
  ) -> [[UInt8]]
}

/// What a session has from where it lives.
struct SessionEnvironment: Sendable {
  let loop: any EventLoop
  /// This server among others; nil for one alone.
  let cluster: ClusterNode?
  let router: Router
  let limits: Limits
  /// What is kept for all sessions.
  let budget: ByteBudget
  let meter: SessionCallMeter
  let turns: SessionLoopScheduler
  let resumables: ResumableClients
  let observer: Observer
  let watch: Watch
  /// The wall clock: milliseconds since 1970-01-01 UTC.
  let now: @Sendable () -> Int64
  let owner: any SessionOwner
  /// What clients run for the calls of all sessions.
  let serverHosts: ServerHosts
  /// The rules for all clients.
  let policy: PolicySource
  /// The route table that can be changed; nil where the app has none.
  let table: LiveTable?
  /// Takes the spans of calls; nil where the app has no tracer.
  let tracer: (any Tracer)?
  /// What callers' loggers add to; nil where nothing is logged.
  let logger: Logger?
}
