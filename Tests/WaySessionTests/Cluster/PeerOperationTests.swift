import TestSupport
import Testing
import WayNavigation
import WayRPC
import WayRouting
import WayValues

@testable import WaySession

/// The operations that servers run for one another.
struct PeerOperationTests {
  private static let caller = Caller(
    session: "s-1", identity: Identity(user: "anna", groups: ["users"]),
    client: .init(id: "s-1.c", name: nil, version: nil, page: nil))

  private static let push = SessionPush(
    audience: .user("anna"), action: .open(uri: "app://a", style: .present, exts: ["e": 1]),
    params: ["p": 1], timeout: .seconds(5), method: "router.open", key: "k")

  static let operations: [any PeerOperation] = [
    PushOperation(push, by: Rights(caller, nil), maxBytes: 1000),
    PushOperation(push, by: nil, maxBytes: .max),
    PushResultQuery(
      owner: "push:app", audience: .group("a"), key: "k",
      request: IdempotentRequest(method: "m", target: "t", params: [:])),
    OpenPagesOperation(
      uri: "app://a", params: ["p": [1, .null]], exts: [:], style: nil, audience: .all,
      timeoutMs: 10),
    ClosePageOperation(session: "s-1", page: "p1"),
    HostRequestOperation(
      session: "s-1", client: "c-1", hostMethod: "task.run", params: ["uri": "a:1"],
      caller: PeerCaller(caller), callSession: "s-2"),
    HostsQuery(), SessionsQuery(audience: .client("c-1", session: "s-1")),
    SessionListOperation(query: SessionListQuery(after: nil, limit: 10, maxBytes: 100)),
    GroupOperation(session: "s-1", group: "a", isMember: true),
    ForgetEventsOperation(topic: "news", audience: .session("s-1")), RetainedEventsQuery(),
    RevokeOperation(SessionRevocation(session: "s-1", client: "c-1"), by: caller),
    RevokedClientsOperation(clients: ["c-1"]), CallerQuery(session: "s-1", client: "c-1"),
    ClaimDeepLinksOperation(session: "s-1", user: nil, groups: ["a"]),
    UpdateTableOperation(revision: .max),
    RollBackPolicyOperation(hash: "h", caller: PeerClientCaller(caller)),
    SummariesQuery(after: "s-1", limit: 10),
    SessionDetailQuery(session: "s-1", withRecords: true),
    ExplanationQuery(uri: "a:1", params: ["p": 1], caller: PeerClientCaller(caller)),
    AgentSessionQuery(user: "ada", session: "s-1", uri: "a:1"),
    BlobClientQuery(session: "s-1", token: "t"),
  ]

  @Test(arguments: operations.indices)
  func paramsAreReadAsTheyWereWritten(_ index: Int) throws {
    func check<Operation: PeerOperation>(_ operation: Operation) throws {
      let written = RecordCoder.value(of: try operation.makeParams())
      let text = try JSON.text(written)
      let params = try RecordCoder.decode(
        Operation.OperationParams.self, from: try JSON.parse(text), "params")
      #expect(try JSON.text(RecordCoder.value(of: params)) == text)
    }
    try check(Self.operations[index])
  }

  @Test func eachMethodHasItsOperation() {
    let methods = Set(PeerMethods.operations.map { $0.method })
    #expect(methods == Set(Self.operations.map { type(of: $0).method }))
    #expect(methods.allSatisfy { $0.hasPrefix("peer.") })
  }

  /// The limits of a guest are known only to its own server.
  @Test func pushOfCallerWithLimitsIsNotSent() {
    let host = Rights(Self.caller, nil)
    let limited = host.intersection(Rights(Self.caller, nil))
    let error = #expect(throws: CallError.self) {
      try PushOperation(Self.push, by: limited, maxBytes: 10).makeParams()
    }
    #expect(error?.code == 2403)
  }

  /// The other servers respond also while this one must not act for its sessions.
  @Test func sessionsOfOtherServersAreListedWithoutALease() async throws {
    let engines = [StubClusterEngine(), StubClusterEngine()]
    let bridges = engines.map { InMemoryBridge(Router(), cluster: Cluster($0)) }
    for (index, bridge) in bridges.enumerated() {
      engines[index].linked.withLock { $0 = engines[1 - index] }
      try await bridge.sessionServer.dispatch.restore()
    }
    let names = try bridges.map { try #require($0.sessionServer.cluster?.server) }
    for index in 0...1 { engines[index].receive(.presence([:]), from: names[1 - index]) }
    let (_, opened) = try await WireClient.open(bridges[1], [:])
    let dispatch = bridges[0].sessionServer.dispatch
    #expect(await dispatch.sessions(.all).map { .string($0.id) } == [opened["session"]])
    engines[0].leaseValidity.revoke()
    await #expect(throws: CallError.self) { try await dispatch.location(of: .all) }
    #expect(await dispatch.sessions(.all).map { .string($0.id) } == [opened["session"]])
  }
}
