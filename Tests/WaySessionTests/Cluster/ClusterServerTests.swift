import TestSupport
import Testing
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// Handling of messages from other servers, including messages that no server of this version
/// sends.
@Suite(.timeLimit(.minutes(1)))
struct ClusterServerTests {
  private let engine = StubClusterEngine()
  private let bridge: InMemoryBridge
  private var sessionServer: SessionServer { bridge.sessionServer }

  init() async throws {
    bridge = InMemoryBridge(Router(), cluster: Cluster(engine))
    try await sessionServer.dispatch.restore()
    engine.receive(.presence(["sessions": 1]), from: "b")
  }

  /// Returns the result of a request of another server.
  private func respond(_ method: String, _ params: Value) async throws(CallError) -> Value {
    let context = PeerContext(dispatch: sessionServer.dispatch) { _ in }
    return try await PeerMethods.perform(method, params, in: context)
  }

  @Test(arguments: [Int64.min, -1, 0, 1001, .max])
  func clampsListLimit(_ limit: Int64) async throws {
    let response = try await respond("peer.summaries", ["limit": .integer(limit)])
    #expect(response["sessions"] == [])
  }

  @Test func policyNeedsProtectedMessages() async throws {
    let rules = try CompiledPolicy([Policy.Rule("all", .allow, ["*"])])
    let unprotected = InMemoryBridge(
      Router(), cluster: Cluster(StubClusterEngine(protectsMessages: false)))
    let versions = unprotected.sessionServer.policyVersions
    let before = versions.current
    await #expect {
      try await unprotected.sessionServer.applyPolicy(rules)
    } throws: { error in
      (error as? CallError)?.protocolCode == .conflict
    }
    #expect(versions.current == before)
    try await unprotected.sessionServer.applyPolicy(nil)
    try await sessionServer.applyPolicy(rules)
    #expect(sessionServer.policyVersions.current != before)
  }

  @Test func rejectsNestedMessageParts() {
    let inner = SessionClusterMessage.fragment([1, 2, 3], isLast: true).bytes
    engine.receive(.fragment(inner, isLast: true), from: "b")
    #expect(sessionServer.cluster?.counts.unreadableMessages.value == 1)
    // A message in one fragment is still delivered.
    let beat = SessionClusterMessage.heartbeat.bytes
    engine.receive(.fragment(beat, isLast: true), from: "b")
    #expect(sessionServer.cluster?.counts.unreadableMessages.value == 1)
  }

  @Test(arguments: PeerMethods.operations.map { $0.method })
  func paramsThatCannotBeReadAreInvalid(_ method: String) async throws {
    let hasParams = !["peer.hosts", "peer.retained"].contains(method)
    for params: Value in [.null, [1], "x", 7] {
      var code: Int?
      do throws(CallError) { _ = try await respond(method, params) } catch { code = error.code }
      #expect(code == (hasParams ? -32602 : nil))
    }
  }

  @Test func unknownMethodIsReported() async {
    let error = await #expect(throws: CallError.self) { try await respond("peer.none", [:]) }
    #expect(error?.code == -32601)
  }

  @Test func knowsResultOfKeyedPush() async throws {
    let now = sessionServer.configuration.now()
    let request = IdempotentRequest(method: "cart", target: "", params: [:])
    let key = SessionPushKeys.PushKey(owner: "push:app", audience: .user("anna"), text: "k")
    func result(_ request: IdempotentRequest) async throws -> PushResultQuery.KnownPushResult {
      try await sessionServer.dispatch.run(
        PushResultQuery(
          owner: key.owner, audience: key.audience, key: key.text, request: request))
    }
    #expect(try await result(request).result == nil)
    let ownResult = SessionPushResult(receipt: DeliveryReceipt(delivered: 2))
    let task = try sessionServer.pushKeys.withLock { (keys) throws(CallError) in
      try keys.begin(key, request, at: now) { Task { .success(ownResult) } }
    }
    // A push that has not ended has no result yet.
    #expect(try await result(request).result == nil)
    let ended = await task.value
    sessionServer.pushKeys.withLock { $0.end(key, ended, at: now) }
    #expect(try await result(request).result?.value == ownResult.value)
    let other = IdempotentRequest(method: "cart", target: "", params: ["n": 1])
    #expect(try await result(other).isConflict)
  }

  @Test func pushOfOtherServerReturnsCountsAndEntries() async throws {
    let (client, opened) = try await WireClient.open(
      bridge, ["hosts": [["scheme": "native", "kind": "page"]]])
    let push = SessionPush(
      audience: .all, action: .deliver(DeepLink("native://a", exts: ["e": 1], key: "k")),
      params: [:], timeout: .seconds(1), method: "router.deliver", key: "k")
    for _ in 1...2 {
      let response = try await respond(
        "peer.push", ["push": push.value, "caller": "app", "maxBytes": 1000])
      #expect(response["delivered"] == 1)
      #expect(response["results"]?.array?.first?["session"] == opened["session"])
    }
    #expect(try await client.acceptPageOpen()["exts"] == ["e": 1])
    #expect(try await client.hasNoPendingMessages())
    let list = try await respond("peer.list", ["query": ["limit": 10, "maxBytes": 10_000]])
    #expect(list["entries"]?.array?.count == 1 && list["hasMore"] == false)
  }

  /// A client that was disconnected for too long gets an error, and does not reappear repeatedly
  /// while the session has other clients.
  @Test func rejectsResumeOfExpiredClient() async throws {
    let first = try await SequencedClient(bridge)
    let second = try await SequencedClient(bridge, joining: first.openResult)
    try await second.disconnect()
    try await bridge.server.advance(by: .seconds(600))
    let response = try await second.resume(after: 1)
    #expect(response["resumed"] == false && response["reason"] == "unknown")
  }

  /// A store that saves its changes; while it is blocked, a save waits.
  private struct BlockingSessionStore: SharedSessionStore {
    let isBlocked = Locked(false)
    let appendCounts = Mailbox<Int>()
    let unblockSignal = Mailbox<Bool>()

    func load(as owner: String) -> [StoredSession] { [] }
    func append(_ changes: [SessionChange]) async -> Set<String> {
      guard isBlocked.withLock({ $0 }) else { return [] }
      appendCounts.put(changes.count)
      _ = await unblockSignal.next(within: .seconds(60))
      return []
    }
    func close() {}
    func takeOver(_ session: String) -> StoredSession? { nil }
    func takeOverAll(_ body: @Sendable (StoredSession) async -> Void) -> Set<String> { [] }
  }

  /// The lease is lost again while the server verifies which sessions it still has.
  @Test func staysFencedWhenLeaseIsLostDuringVerification() async throws {
    let store = BlockingSessionStore()
    let bridge = InMemoryBridge(Router(), cluster: Cluster(StubClusterEngine(store)))
    try await bridge.sessionServer.dispatch.restore()
    let hub = bridge.loopSessions
    _ = try await SequencedClient(bridge)
    await hub.fence(untilVerified: true)
    store.isBlocked.withLock { $0 = true }
    async let first: Void = hub.verify()
    #expect(await store.appendCounts.next(within: .seconds(60)) == 1)
    await hub.fence(untilVerified: true)
    store.isBlocked.withLock { $0 = false }
    store.unblockSignal.put(true)
    try await first
    #expect(await hub.rejectionReason != nil)
    try await hub.verify()
    #expect(await hub.rejectionReason == nil)
  }

  /// Calls that no other server can continue get the same time to finish as on a single server.
  @Test func drainWaitsForCallsOfPlainClients() async throws {
    let (started, permissionToEnd) = (Mailbox<Bool>(), Mailbox<Bool>())
    let router = Router()
    try router.task("action://slow") { _ in
      started.put(true)
      return .bool(await permissionToEnd.next(within: .seconds(60)) == true)
    }
    let bridge = InMemoryBridge(router, cluster: Cluster(StubClusterEngine()))
    try await bridge.sessionServer.dispatch.restore()
    let plain = try await WireClient.connect(to: bridge)
    try await plain.call(1, "router.invoke", ["uri": "action://slow"])
    #expect(await started.next(within: .seconds(60)) == true)
    async let drained: Void = bridge.sessionServer.drain(for: .seconds(30))
    #expect(try await plain.nextEvent()["topic"] == "server.draining")
    permissionToEnd.put(true)
    #expect(try await plain.response(1)["result"] == true)
    try await bridge.server.advance(by: .milliseconds(20))
    await drained
  }

  @Test func pausesResumeTimersWithoutLease() async throws {
    let client = try await SequencedClient(bridge)
    try await client.call(1, "$/ping", [:])
    _ = try await client.wire.response(1)
    engine.leaseValidity.revoke()
    try await bridge.server.advance(by: .milliseconds(100))
    #expect(try await client.wire.nextCloseCode() == CloseCode.drain.rawValue)
    try await bridge.server.advance(by: .seconds(600))
    engine.renewLease()
    try await bridge.server.advance(by: .milliseconds(100))
    try await bridge.server.advance(by: .seconds(119))
    #expect(try await client.resume(after: 1)["resumed"] == true)
    // A client that is disconnected when that begins is handled the same way.
    try await client.disconnect()
    try await bridge.server.advance(by: .seconds(60))
    engine.leaseValidity.revoke()
    try await bridge.server.advance(by: .seconds(600))
    engine.renewLease()
    try await bridge.server.advance(by: .seconds(119))
    #expect(await sessionServer.totals().absentClients == 1)
    try await bridge.server.advance(by: .seconds(2))
    #expect(await sessionServer.totals().sessions == 0)
  }
}
