import TestSupport
import Testing
import WayRouting
import WayTable
import WayTransport
import WayValues

@testable import WaySession

/// The audit records of a server in memory.
@Suite(.timeLimit(.minutes(1)))
struct AuditTrailTests {
  /// A server whose users are named by their tokens: `root` administers it, and the others may not
  /// use the routes of `secret`.
  private struct AuditFixture {
    let bridge: InMemoryBridge
    let records = Locked<[AuditRecord]>([])

    init(
      identify: IdentityResolver? = { Identity(user: $0.token) }, limits: Limits = Limits(),
      table: Value? = nil, cluster: Cluster? = nil
    ) throws {
      let router = Router()
      let liveTable = try table.map { try LiveTable(RouteTable(parsing: $0), for: router) }
      try router.task("action://secret") { _ in 1 }
      try router.task("action://nested") { call in
        try await call.navigator.invoke("action://secret?password=hidden")
      }
      try router.task("action://recovers") { call in
        (try? await call.navigator.invoke("action://secret")) ?? "recovered"
      }
      try router.task("action://forbids") { _ in throw CallError(code: 2403, message: "app") }
      var sink = EventSink()
      sink.audit = { [records] record in records.withLock { $0.append(record) } }
      bridge = InMemoryBridge(
        router, limits: limits, observer: sink, identify: identify,
        rules: try CompiledPolicy([
          Policy.Rule("operator", .allow, ["*"], subjects: ["root"]),
          Policy.Rule("users", .allow, ["router.*", "host.*", "session.push"]),
          Policy.Rule(
            "secrets", .deny, ["router.*"], subjects: ["ada"], routes: ["action://secret"]),
        ]), table: liveTable, cluster: cluster)
    }

    func open(_ user: String) async throws -> (client: WireClient, opened: Value) {
      try await WireClient.open(
        bridge, ["client": ["name": "shell"]],
        from: Handshake(origin: "https://a.example", address: "10.0.0.1", token: user))
    }

    /// Removes and returns the records so far, without their clients.
    func summaries() -> [String] {
      records.withLock { records in
        defer { records = [] }
        return records.map(Self.summary)
      }
    }

    private static func summary(_ record: AuditRecord) -> String {
      let result =
        switch record.result {
        case .done: "done"
        case .failed(let code): "failed \(code ?? 0)"
        case .refused(let code, let rule, _): "refused \(code) \(rule ?? "-")"
        case .suppressed(let count, let rule): "suppressed \(count) \(rule ?? "-")"
        case .incomplete(let servers): "incomplete \(servers.joined(separator: " "))"
        }
      return [record.action, record.method, record.target, result].compactMap(\.self)
        .joined(separator: " ")
    }
  }

  @Test(
    arguments: [
      (
        "router.invoke", ["uri": "action://secret?x=1#y"], "router.invoke action://secret",
        "secrets"
      ),
      (
        "router.invoke", ["uri": "action://secret", "key": "k"], "router.invoke action://secret",
        "secrets"
      ),
      ("router.deliver", ["uri": "action://secret"], "router.deliver action://secret", "secrets"),
      ("events.subscribe", ["topics": ["x"]], "events.subscribe", "default"),
      ("table.get", [:], "table.get", "default"),
      ("session.invite", ["groups": ["staff"]], "session.invite", "invitation"),
    ] as [(String, Value, String, String)])
  func refusedRequestHasOneRecordWithItsClient(
    _ method: String, _ params: Value, _ about: String, _ rule: String
  ) async throws {
    let fixture = try AuditFixture()
    let (client, opened) = try await fixture.open("ada")
    #expect(try await client.callStatus(method, params) == rule)
    let record = try #require(fixture.records.withLock { $0.first })
    #expect(
      record.client
        == EventClient(
          session: opened["session"]?.string, id: opened["client"]?.string, name: "shell",
          user: "ada", address: "10.0.0.1", origin: "https://a.example"))
    #expect(fixture.summaries() == ["refuse \(about) refused 2403 \(rule)"])
  }

  @Test func refusedNotificationsAndBatchesHaveRecords() async throws {
    let fixture = try AuditFixture()
    let (client, _) = try await fixture.open("ada")
    try await client.notify("table.get", [:])
    let call: Value = [
      "jsonrpc": "2.0", "id": 1, "method": "router.invoke", "params": ["uri": "action://secret"],
    ]
    try await client.batch([call])
    _ = try await client.nextMessage()
    #expect(
      fixture.summaries() == [
        "refuse table.get refused 2403 default",
        "refuse router.invoke action://secret refused 2403 secrets",
      ])
  }

  @Test func nestedCallOfAHandlerIsRecordedOnceForItsCaller() async throws {
    let fixture = try AuditFixture()
    let (client, _) = try await fixture.open("ada")
    let refused = "refuse action://secret refused 2403 secrets"
    #expect(
      try await client.callStatus("router.invoke", ["uri": "action://nested"]) == "secrets")
    #expect(fixture.records.withLock { $0.first?.client?.user } == "ada")
    #expect(fixture.summaries() == [refused])
    #expect(try await client.invoke("action://recovers")["result"] == "recovered")
    #expect(fixture.summaries() == [refused])
  }

  @Test func errorsWithoutRefusalHaveNoRecord() async throws {
    let fixture = try AuditFixture()
    let (client, _) = try await fixture.open("bob")
    for uri in ["action://forbids", "action://none", "action://secret", "action://nested"] {
      _ = try await client.invoke(uri)
    }
    _ = try await client.request("router.canOpen", ["uri": "action://none"])
    #expect(fixture.summaries() == [])
  }

  @Test func deniedPushIsRecordedForEachSession() async throws {
    let fixture = try AuditFixture()
    let (client, _) = try await fixture.open("ada")
    let others = [try await fixture.open("bob"), try await fixture.open("bob")]
    for method in ["router.invoke", "router.deliver"] {
      let pushed = try await client.request(
        "session.push",
        ["to": ["user": "bob"], "method": .string(method), "params": ["uri": "action://secret"]])
      #expect(pushed["result"]?["failed"] == 2)
      let refused = "refuse action://secret refused 2403 secrets"
      #expect(
        fixture.summaries() == [refused, refused, "session.push \(method) user bob done"])
    }
    withExtendedLifetime(others) {}
  }

  @Test func administrativeActionIsRecordedWithItsResult() async throws {
    let fixture = try AuditFixture()
    let (admin, _) = try await fixture.open("root")
    let (guest, opened) = try await fixture.open("bob")
    let session = opened["session"]?.string ?? ""
    let client = opened["client"]?.string ?? ""
    _ = try await admin.request("session.list")
    _ = try await admin.request("table.get")
    _ = try await admin.request("admin.explain", ["uri": "action://x?token=hidden"])
    _ = try await admin.request("policy.rollback", ["to": "nowhere"])
    #expect(
      fixture.summaries() == [
        "session.list done", "table.get failed 2404", "admin.explain action://x done",
        "policy.rollback nowhere failed 2404",
      ])
    let ended: Value = ["session": .string(session), "client": .string(client)]
    _ = try await admin.request("client.disconnect", ended)
    #expect(fixture.records.withLock { $0.last?.removedClients } == [client])
    #expect(fixture.summaries() == ["client.disconnect \(session)/\(client) done"])
    #expect(try await guest.nextCloseCode() == CloseCode.forbidden.rawValue)
  }

  @Test func revocationByTheAppIsRecordedWithoutAClient() async throws {
    let fixture = try AuditFixture()
    let (_, opened) = try await fixture.open("bob")
    let session = opened["session"]?.string ?? ""
    _ = try await fixture.bridge.sessionServer.dispatch.revoke(
      SessionRevocation(session: session), by: nil)
    let record = try #require(fixture.records.withLock { $0.first })
    #expect((record.client, record.cause) == (nil, "code"))
    #expect(fixture.summaries() == ["session.end \(session) done"])
  }

  @Test func actionsOfOtherServersAreRecordedForTheirClient() async throws {
    let fixture = try AuditFixture()
    let (_, opened) = try await fixture.open("bob")
    let session = opened["session"]?.string ?? ""
    let context = PeerContext(dispatch: fixture.bridge.sessionServer.dispatch) { _ in }
    func caller(_ user: String) -> Value {
      let caller = Caller(
        session: "s-other", identity: Identity(user: user), client: .init(id: "c-other"),
        address: "10.0.0.9")
      return RecordCoder.value(of: PeerCaller(caller))
    }
    let push: Value = [
      "to": ["user": "bob"], "method": "router.invoke", "params": ["uri": "action://secret"],
    ]
    _ = try await PeerMethods.perform(
      "peer.push", ["push": push, "caller": caller("ada"), "maxBytes": 1000], in: context)
    _ = try await PeerMethods.perform(
      "peer.revoke",
      ["revocation": ["session": .string(session)], "caller": caller("root")], in: context)
    let records = fixture.records.withLock { $0 }
    #expect(records.map { $0.client?.user } == ["ada", "root"])
    #expect(records.map { $0.client?.address } == ["10.0.0.9", "10.0.0.9"])
    #expect(records.map(\.cause) == [nil, "cluster"])
    #expect(
      fixture.summaries() == [
        "refuse action://secret refused 2403 secrets", "session.end \(session) done",
      ])
  }

  @Test func invitationIsRecordedWithTheGroupsThatItPassesOn() async throws {
    let fixture = try AuditFixture(identify: { Identity(user: $0.token, groups: ["a", "b"]) })
    let (client, _) = try await fixture.open("bob")
    _ = try await client.request("session.invite", ["groups": ["a"]])
    _ = try await client.request("session.invite", ["groups": ["a"], "uses": 0])
    // Any client can make requests that fail.
    let groups = fixture.records.withLock { $0.map(\.grantedGroups) }
    #expect(groups == [["a"]])
    #expect(fixture.summaries() == ["session.invite done"])
  }

  @Test func expiredTokenIsRecordedWithItsUser() async throws {
    let fixture = try AuditFixture(identify: {
      Identity(user: $0.token, expires: InMemoryBridge.startTime + 1_000)
    })
    let (client, _) = try await fixture.open("bob")
    try await fixture.bridge.server.advance(by: .seconds(2))
    _ = try await client.nextRequest("event")
    #expect(try await client.nextCloseCode() == CloseCode.renewal.rawValue)
    #expect(fixture.records.withLock { $0.first?.client?.user } == "bob")
    #expect(fixture.summaries() == ["refuse refused 4203 identity"])
  }

  @Test func wrongTokenOfAResumeIsRecorded() async throws {
    let fixture = try AuditFixture()
    let (client, opened) = try await fixture.open("bob")
    let other = try await WireClient.connect(
      to: fixture.bridge, subprotocol: Handshake.sessionSubprotocol,
      from: Handshake(origin: "https://a.example", address: "10.0.0.2", token: "bob"))
    let resumed = try await other.resume(opened, ["token": "wrong"])
    #expect(resumed["reason"] == "token")
    #expect(
      fixture.records.withLock { $0.first?.client }
        == EventClient(user: "bob", address: "10.0.0.2", origin: "https://a.example"))
    #expect(fixture.summaries() == ["refuse session.resume refused 2401 -"])
    withExtendedLifetime(client) {}
  }

  @Test func refusalsOfAUserAreCountedAcrossConnections() async throws {
    let fixture = try AuditFixture()
    for _ in 0..<15 {
      let (client, _) = try await fixture.open("ada")
      _ = try await client.request("table.get")
    }
    let (other, _) = try await fixture.open("bob")
    _ = try await other.request("table.get")
    #expect(fixture.summaries().count == 11)
    try await fixture.bridge.server.advance(by: .seconds(1))
    let client = fixture.records.withLock { $0.first?.client }
    #expect(client == EventClient(user: "ada", address: "10.0.0.1"))
    #expect(fixture.summaries() == ["refuse table.get suppressed 5 default"])
    try await fixture.bridge.server.advance(by: .seconds(5))
    #expect(fixture.summaries() == [])
  }

  @Test func refusalsOfAnotherReasonAreRecorded() async throws {
    let fixture = try AuditFixture()
    let (client, _) = try await fixture.open("ada")
    for _ in 0..<15 { _ = try await client.request("table.get") }
    #expect(fixture.summaries().count == 10)
    _ = try await client.request("session.list")
    _ = try await client.invoke("action://secret")
    #expect(
      fixture.summaries() == [
        "refuse session.list refused 2403 default",
        "refuse router.invoke action://secret refused 2403 secrets",
      ])
  }

  @Test func targetOfARefusalIsLimited() async throws {
    let fixture = try AuditFixture()
    let (client, _) = try await fixture.open("ada")
    let uri = "action://secret/" + String(repeating: "x", count: 10_000)
    _ = try await client.request("table.get", ["uri": .string(uri)])
    let target = fixture.records.withLock { $0.first?.target }
    #expect(target == String(uri.prefix(AuditRecord.maxTextBytes)))
  }

  @Test func eachAdministrativeMethodIsAudited() {
    let methods = MethodTable.builtIn.filter { $0.access == .admin || $0.name == "session.invite" }
    #expect(methods.filter { $0.audit == nil }.map(\.name) == [])
    #expect(
      methods.filter { $0.audit == .read }.map(\.name).sorted() == [
        "admin.cluster", "admin.explain", "admin.refusals", "admin.routes", "admin.session",
        "admin.sessions", "admin.versions", "session.list", "table.check", "table.get",
      ])
  }

  @Test func readsThatAreRepeatedAreCountedForAnHour() async throws {
    let fixture = try AuditFixture()
    let (admin, opened) = try await fixture.open("root")
    let session = opened["session"] ?? .null
    for _ in 0..<3 {
      _ = try await admin.request("session.list")
      _ = try await admin.request("admin.session", ["session": session])
      _ = try await admin.request("admin.session", ["session": "s-nowhere"])
    }
    let shown = "admin.session \(session.string ?? "")"
    #expect(
      fixture.summaries() == [
        "session.list done", "\(shown) done", "admin.session s-nowhere failed 2404",
      ])
    // The client is counted with its earlier connections.
    let (again, _) = try await fixture.open("root")
    _ = try await again.request("session.list")
    #expect(fixture.summaries() == [])
    // A stolen token is probably used at another address.
    let (thief, _) = try await WireClient.open(
      fixture.bridge, from: Handshake(address: "10.0.0.2", token: "root"))
    _ = try await thief.request("session.list")
    #expect(fixture.summaries() == ["session.list done"])
    let administrator = EventClient(user: "root", address: "10.0.0.1")
    try await fixture.bridge.server.advance(by: .seconds(3600))
    #expect(fixture.records.withLock { $0.first?.client } == administrator)
    #expect(
      fixture.summaries().sorted()
        == [
          "\(shown) suppressed 2 -", "admin.session s-nowhere suppressed 2 -",
          "session.list suppressed 3 -",
        ].sorted())
    _ = try await again.request("session.list")
    #expect(fixture.summaries() == [])
  }

  @Test func changesAreRecordedEachTime() async throws {
    let fixture = try AuditFixture()
    let (admin, _) = try await fixture.open("root")
    for _ in 0..<15 { _ = try await admin.request("policy.rollback", ["to": "nowhere"]) }
    #expect(
      fixture.summaries() == Array(repeating: "policy.rollback nowhere failed 2404", count: 15))
  }

  @Test func requestWithWrongParamsIsRecordedForAdministrators() async throws {
    let fixture = try AuditFixture()
    let (admin, _) = try await fixture.open("root")
    let (other, _) = try await fixture.open("ada")
    let wrong: Value = ["unknown": 1]
    for client in [admin, other] {
      _ = try await client.request("session.end", wrong)
      _ = try await client.request("session.list", wrong)
      _ = try await client.request("session.invite", wrong)
    }
    #expect(
      fixture.summaries() == [
        "session.end failed -32602", "session.list failed -32602",
        "refuse session.end refused 2403 default", "refuse session.list refused 2403 default",
      ])
    for _ in 0..<15 { _ = try await admin.request("session.end", wrong) }
    #expect(fixture.summaries().count == 9)
    fixture.bridge.sessionServer.auditTrail?.finish()
    #expect(fixture.summaries() == ["session.end suppressed 6 -"])
  }

  @Test func requestBeyondTheRateLimitIsRecordedForAdministrators() async throws {
    var limits = Limits()
    (limits.maxRate, limits.maxBurst) = (1, 1)
    let fixture = try AuditFixture(limits: limits)
    for user in ["root", "ada"] {
      let (client, _) = try await fixture.open(user)
      _ = try await client.request("$/ping")
      #expect(try await client.callStatus("session.end", ["session": "s-1"]) == "2429")
    }
    #expect(fixture.summaries() == ["session.end failed 2429"])
  }

  @Test func resumeByAnotherUserIsRecorded() async throws {
    let fixture = try AuditFixture()
    let (client, opened) = try await fixture.open("bob")
    let other = try await WireClient.connect(
      to: fixture.bridge, subprotocol: Handshake.sessionSubprotocol,
      from: Handshake(origin: "https://a.example", address: "10.0.0.2", token: "eve"))
    let resumed = try await other.resume(opened)
    #expect(resumed["reason"] == "user")
    #expect(
      fixture.records.withLock { $0.first?.client }
        == EventClient(user: "eve", address: "10.0.0.2", origin: "https://a.example"))
    #expect(
      fixture.summaries() == [
        "refuse session.resume \(opened["client"]?.string ?? "") refused 2403 identity"
      ])
    withExtendedLifetime(client) {}
  }

  /// Starts two servers that see each other, and returns them with their names.
  private func linkedServers(
    _ make: (Int, Cluster) throws -> AuditFixture
  ) async throws -> (servers: [AuditFixture], names: [String], engines: [StubClusterEngine]) {
    let engines = [StubClusterEngine(), StubClusterEngine()]
    let servers = try engines.indices.map { try make($0, Cluster(engines[$0])) }
    for (index, server) in servers.enumerated() {
      engines[index].linked.withLock { $0 = engines[1 - index] }
      try await server.bridge.sessionServer.dispatch.restore()
    }
    let names = try servers.map { try #require($0.bridge.sessionServer.cluster?.server) }
    for index in 0...1 { engines[index].receive(.presence([:]), from: names[1 - index]) }
    return (servers, names, engines)
  }

  private static let redirect: ValueObject = [
    "operations": [["op": "redirect", "from": "action://old", "to": "action://new"]]
  ]

  @Test func tableThatCannotBeSharedIsIncomplete() async throws {
    let (servers, _, engines) = try await linkedServers {
      try AuditFixture(table: ["version": "1", "routes": []], cluster: $1)
    }
    let (admin, _) = try await servers[0].open("root")
    engines[0].isFull.store(true, ordering: .relaxed)
    #expect(try await admin.callStatus("table.update", .object(Self.redirect)) == "2503")
    #expect(servers[0].records.withLock { $0.first?.version } == "1+1")
    #expect(servers[0].summaries() == ["table.update incomplete "])
    // This table is the shared one again.
    #expect(try await admin.callStatus("table.rollback", ["to": "1"]) == "ok")
    #expect(servers[0].summaries() == ["table.rollback 1 done"])
    engines[0].isFull.store(false, ordering: .relaxed)
    #expect(try await admin.callStatus("table.update", .object(Self.redirect)) == "ok")
    engines[0].isFull.store(true, ordering: .relaxed)
    #expect(try await admin.callStatus("table.rollback", ["to": "1"]) == "2503")
    // A change that is not in force has failed.
    #expect(try await admin.callStatus("table.rollback", ["to": "none"]) == "2404")
    #expect(
      servers[0].summaries() == [
        "table.update done", "table.rollback 1 incomplete ", "table.rollback none failed 2404",
      ])
  }

  @Test func tableThatAnotherServerHasReplacedHasFailed() async throws {
    let (servers, _, engines) = try await linkedServers {
      try AuditFixture(table: ["version": "1", "routes": []], cluster: $1)
    }
    let (admin, _) = try await servers[0].open("root")
    let theirs = Array(#"{"table":{"version":"7","routes":[]},"earlier":[]}"#.utf8)
    engines[0].documents.withLock { $0["table"] = (theirs, 9) }
    #expect(try await admin.callStatus("table.update", .object(Self.redirect)) == "2409")
    #expect(servers[0].records.withLock { $0.first?.version } == nil)
    #expect(servers[0].summaries() == ["table.update failed 2409"])
  }

  @Test func tableThatAnotherServerDoesNotAcceptIsIncomplete() async throws {
    let (servers, names, _) = try await linkedServers { index, cluster in
      try AuditFixture(
        table: index == 0 ? ["version": "1", "routes": []] : nil, cluster: cluster)
    }
    let (admin, _) = try await servers[0].open("root")
    let changed = try await admin.callResult("table.update", Self.redirect)
    #expect(changed["servers"]?.array?.first?["error"]?["code"] == 2404)
    #expect(servers[0].summaries() == ["table.update incomplete \(names[1])"])
  }

  @Test func pushThatAnotherServerDoesNotAcceptIsIncomplete() async throws {
    let (servers, names, _) = try await linkedServers { index, cluster in
      var limits = Limits()
      if index == 1 { limits.maxExts = 1 }
      return try AuditFixture(limits: limits, cluster: cluster)
    }
    let (admin, _) = try await servers[0].open("root")
    let pushed = try await admin.callResult(
      "session.push",
      [
        "to": ["all": true], "method": "router.invoke",
        "params": ["uri": "action://recovers", "exts": ["trace": "1"]],
      ])
    #expect(pushed["delivered"] == 1)
    #expect(pushed["failed"] == 1)
    #expect(
      servers[0].summaries() == ["session.push router.invoke all incomplete \(names[1])"])
  }

  @Test func rollbackThatCannotBeSharedIsIncomplete() async throws {
    let (servers, _, engines) = try await linkedServers { try AuditFixture(cluster: $1) }
    let sessionServer = servers[0].bridge.sessionServer
    try await sessionServer.applyPolicy(
      try CompiledPolicy([Policy.Rule("first", .allow, ["*"])]))
    let hash = sessionServer.policyVersions.current
    try await sessionServer.applyPolicy(
      try CompiledPolicy([Policy.Rule("second", .allow, ["*"])]))
    engines[0].leaseValidity.revoke()
    let caller = Caller(session: "s-1", identity: Identity(user: "root"), client: .init(id: "c-1"))
    let change = try await servers[0].bridge.sessionServer.dispatch.rollBack(
      toPolicy: hash, expecting: nil, for: caller)
    #expect(change.isIncomplete && change.failedServers == [])
    #expect(throws: CallError.self) { try change.response.get() }
    #expect(sessionServer.policyVersions.current == hash)
  }

  @Test func rollbackThatFailsAtAnotherServerIsIncomplete() async throws {
    let (servers, names, _) = try await linkedServers { try AuditFixture(cluster: $1) }
    // The other server has never had this policy.
    let sessionServer = servers[0].bridge.sessionServer
    let first = Policy.Rule("first", .allow, ["*"])
    try await sessionServer.applyPolicy(try CompiledPolicy([first]))
    let hash = sessionServer.policyVersions.current
    let second = Policy.Rule("second", .allow, ["*"])
    try await sessionServer.applyPolicy(try CompiledPolicy([second]))
    let (admin, _) = try await servers[0].open("root")
    _ = try await admin.request("policy.rollback", ["to": .string(hash)])
    #expect(servers[0].records.withLock { $0.first?.version } == hash)
    #expect(servers[0].summaries() == ["policy.rollback \(hash) incomplete \(names[1])"])
    #expect(servers[1].records.withLock { $0.first?.client?.user } == "root")
    #expect(servers[1].records.withLock { $0.first?.cause } == "cluster")
    #expect(servers[1].summaries() == ["policy.rollback \(hash) failed 2404"])
  }

  @Test(
    arguments: [
      ("session.push", ["delivered": 2, "waiting": 1, "nobody": 4, "failed": 3], 6, [], nil),
      ("session.end", ["clients": ["c-1", "c-2"]], nil, ["c-1", "c-2"], nil),
      ("admin.session", ["clients": ["c-1"], "version": "x"], nil, [], nil),
      ("table.update", ["version": "7"], nil, [], "7"),
      ("policy.rollback", ["hash": "ab"], nil, [], "ab"),
    ] as [(String, Value, Int?, [String], String?)])
  func resultOfAMethodCompletesItsRecord(
    _ method: String, _ result: Value, _ sessions: Int?, _ clients: [String], _ version: String?
  ) {
    let record = AuditRecord(action: method).completed(with: .success(ChangeResult(result)))
    #expect(record.result == .done)
    #expect(record.sessionCount == sessions)
    #expect(record.removedClients == clients)
    #expect(record.version == version)
  }

  @Test(arguments: ["table.update", "table.rollback", "policy.rollback"])
  func resultOfOtherServersCompletesTheRecord(_ method: String) {
    func record(_ responses: Result<[PeerResponse<Value>], CallError>) -> AuditRecord {
      AuditRecord(action: method).completed(
        with: .success(ChangeResult(["hash": "1"], responses)))
    }
    let done = PeerResponse<Value>(server: "a", result: .success(["version": "1"]))
    let error = CallError(.unavailable, "gone")
    let failed = PeerResponse<Value>(server: "b", result: .failure(error))
    let records = [
      record(.success([done])), record(.success([done, failed])), record(.failure(error)),
    ]
    #expect(
      records.map(\.result) == [
        .done, .incomplete(failedServers: ["b"]), .incomplete(failedServers: []),
      ])
    #expect(records.map(\.version) == ["1", "1", "1"])
  }
}
