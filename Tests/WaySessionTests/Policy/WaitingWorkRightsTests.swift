import TestSupport
import Testing
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// Work that was requested earlier, after the identity of its client has changed or ended: deep
/// links that wait, and calls with idempotency keys.
@Suite(.timeLimit(.minutes(1)))
struct WaitingWorkRightsTests {
  private let store = MemorySessionStore()
  private let records = Locked<[AuditRecord]>([])

  /// Tokens are `USER GROUP SECONDS`; the seconds count from the start of the test.
  private static let identify: IdentityResolver = { handshake in
    let words = (handshake.token ?? "").split(separator: " ").map(String.init)
    guard words.count == 3, let seconds = Int64(words[2]) else {
      throw CallError(code: 1, message: "no such token")
    }
    return Identity(
      user: words[0], groups: [UTF8Key(words[1])],
      expires: InMemoryBridge.startTime + seconds * 1000)
  }

  /// Operators may push to all sessions, and members of `suspended` may not make calls.
  private func bridge(
    _ router: Router = Router(), store: (any SessionStore)? = nil, cluster: Cluster? = nil,
    clockOffset: Duration = .zero
  ) throws -> InMemoryBridge {
    var sink = EventSink()
    sink.audit = { [records] record in records.withLock { $0.append(record) } }
    return InMemoryBridge(
      router, observer: sink, identify: Self.identify,
      rules: try CompiledPolicy([
        Policy.Rule("operators", .allow, ["session.*", "client.*"], groups: ["operators"]),
        Policy.Rule("all", .allow, ["router.*", "host.*", "events.*", "navigation.*"]),
        Policy.Rule("suspended", .deny, ["router.invoke"], groups: ["suspended"]),
      ]), store: store, cluster: cluster, clockOff: clockOffset)
  }

  private func open(
    _ bridge: InMemoryBridge, _ token: String, _ members: ValueObject = [:]
  ) async throws -> (client: WireClient, opened: Value) {
    try await WireClient.open(bridge, members, from: Handshake(token: token))
  }

  /// Pushes a deep link for the sessions of ben, and returns how many of them have it.
  private func pushLink(_ client: WireClient) async throws -> Value? {
    let pushed = try await client.request(
      "session.push",
      ["to": ["user": "ben"], "method": "router.deliver", "params": ["uri": "native://shop"]])
    return pushed["result"]?["waiting"]
  }

  /// Whether the link for ben is opened in a session of his; otherwise it has failed, or was removed.
  private func isOpened(at bridge: InMemoryBridge) async throws -> Bool {
    let (ben, opened) = try await open(bridge, "ben users 9000")
    let session = try #require(opened["session"]?.string)
    try await ben.subscribe("route.failed")
    try await ben.call(
      "host", "host.register", ["hosts": [["scheme": "native", "kind": "page"]]])
    while true {
      let unclaimed = bridge.sessionServer.unclaimedLinks.withLock { $0.count }
      let isWaiting = await bridge.loopSessions.pendingLinkCount(in: session) + unclaimed > 0
      try await ben.call("ping", "$/ping", [:])
      while true {
        let message = try await ben.nextMessage()
        if message["method"] == "page.open" { return true }
        if message["params"]?["topic"] == "route.failed" { return false }
        if message["id"] == "ping" { break }
      }
      if !isWaiting { return false }
      await Task.yield()
    }
  }

  @Test(
    arguments: [
      (nil, true), ("root operators 9000", true), ("root users 9000", false),
    ] as [(String?, Bool)])
  func unclaimedLinkHasTheCurrentRightsOfItsSender(
    renewal: String?, isOpened: Bool
  ) async throws {
    let bridge = try bridge()
    let (root, _) = try await open(bridge, "root operators 300")
    #expect(try await pushLink(root) == 1)
    if let renewal {
      #expect(try await root.callStatus("session.renew", ["token": .string(renewal)]) == "ok")
      // The first token has expired.
      try await bridge.server.advance(by: .seconds(301))
    }
    #expect(try await self.isOpened(at: bridge) == isOpened)
    #expect(bridge.sessionServer.unclaimedLinks.withLock { $0.count } == 0)
    let refused = records.withLock { records in
      records.filter { $0.action == AuditRecord.refusal }.map { $0.client?.user }
    }
    #expect(refused == (isOpened ? [] : ["root"]))
  }

  @Test func unclaimedLinkEndsWithTheIdentityOfItsSender() async throws {
    let bridge = try bridge()
    let (root, _) = try await open(bridge, "root operators 300")
    #expect(try await pushLink(root) == 1)
    try await bridge.server.advance(by: .seconds(301))
    #expect(try await !isOpened(at: bridge))
  }

  @Test func unclaimedLinkEndsWithTheRevocationOfItsSender() async throws {
    let bridge = try bridge()
    let (root, opened) = try await open(bridge, "root operators 300")
    #expect(try await pushLink(root) == 1)
    let (other, _) = try await open(bridge, "other operators 300")
    let params: Value = ["session": opened["session"] ?? .null]
    #expect(try await other.callStatus("session.end", params) == "ok")
    #expect(try await !isOpened(at: bridge))
  }

  @Test func linkOfAClientThatHasLeftIsOpened() async throws {
    let bridge = try bridge()
    let (root, _) = try await open(bridge, "root operators 300")
    #expect(try await pushLink(root) == 1)
    try await root.close()
    #expect(try await isOpened(at: bridge))
  }

  @Test(
    arguments: [
      ("root operators 9000", true), ("root users 9000", false),
    ])
  func restoredLinkHasTheCurrentRightsOfItsSender(
    renewal: String, isOpened: Bool
  ) async throws {
    let first = try bridge(store: store)
    let root = try await SequencedClient(first, from: Handshake(token: "root operators 300"))
    // The link waits in the session of ben, which has no host.
    let ben = try await SequencedClient(first, from: Handshake(token: "ben users 9000"))
    try await root.call(
      "push", "session.push",
      [
        "to": ["session": await ben.openResult["session"] ?? .null], "method": "router.deliver",
        "params": ["uri": "native://shop"],
      ])
    #expect(try await root.wire.response("push")["result"]?["waiting"] == 1)
    try await first.server.advance(by: .milliseconds(100))
    await first.loopSessions.flushStore()

    let second = try bridge(store: store)
    try await second.sessionServer.dispatch.restore()
    #expect(
      try await root.resume(after: 0, from: Handshake(token: renewal), at: second)["resumed"]
        == true)
    #expect(
      try await ben.resume(after: 0, from: Handshake(token: "ben users 9000"), at: second)[
        "resumed"] == true)
    try await ben.call("events", "events.subscribe", ["topics": ["route.failed"]])
    try await ben.call(
      "host", "host.register", ["hosts": [["scheme": "native", "kind": "page"]]])
    var isFollowed: Bool?
    while isFollowed == nil {
      let message = try await ben.wire.nextMessage()
      if message["method"] == "page.open" { isFollowed = true }
      if message["params"]?["topic"] == "route.failed" { isFollowed = false }
    }
    #expect(isFollowed == isOpened)
  }

  /// Two servers with engines that deliver messages to each other. A link of root for ben waits at the
  /// other one, and root is at the first.
  private struct LinkedServers {
    let first: InMemoryBridge
    let other: InMemoryBridge
    let otherEngine: StubClusterEngine
    let firstName: String
    let root: WireClient
    let session: String
    let client: String
    private let others: [WireClient]

    /// Root has a token for `seconds`.
    init(_ tests: WaitingWorkRightsTests, seconds: Int = 300) async throws {
      let engine = StubClusterEngine()
      otherEngine = StubClusterEngine()
      first = try tests.bridge(cluster: Cluster(engine))
      other = try tests.bridge(cluster: Cluster(otherEngine))
      for bridge in [first, other] { try await bridge.sessionServer.dispatch.restore() }
      engine.linked.withLock { [otherEngine] in $0 = otherEngine }
      otherEngine.linked.withLock { $0 = engine }
      let name = try #require(first.sessionServer.cluster?.server)
      firstName = name
      let otherName = try #require(other.sessionServer.cluster?.server)
      engine.receive(.presence([:]), from: otherName)
      // The session remains when root has left it.
      let (shell, shellOpened) = try await tests.open(first, "root operators 9000")
      let opened: Value
      (root, opened) = try await WireClient.open(
        first, joining: shellOpened, from: Handshake(token: "root operators \(seconds)"))
      session = try #require(opened["session"]?.string)
      client = try #require(opened["client"]?.string)
      #expect(try await tests.pushLink(root) == 1)
      otherEngine.owner.withLock { $0 = .server(name) }
      // A session of ben without a host for the link fetches it.
      otherEngine.receive(.presence(["links": 1]), from: name)
      let (early, _) = try await tests.open(
        other, "ben users 9000", ["hosts": [["scheme": "other", "kind": "page"]]])
      others = [shell, early]
      while other.sessionServer.unclaimedLinks.withLock({ $0.count }) == 0 { await Task.yield() }
    }
  }

  /// How the sender of a link changes after it has sent the link.
  enum SenderChange: CaseIterable {
    case none, longerToken, fewerRights, sessionEnd, disconnection, departure
  }

  @Test(arguments: SenderChange.allCases)
  func unclaimedLinkAtAnotherServerHasTheCurrentRights(_ change: SenderChange) async throws {
    let servers = try await LinkedServers(self, seconds: change == .longerToken ? 2 : 300)
    let dispatch = servers.first.sessionServer.dispatch
    switch change {
    case .none: break
    case .longerToken:
      let renewed = try await servers.root.callStatus(
        "session.renew", ["token": "root operators 9000"])
      #expect(renewed == "ok")
      // The first token has expired.
      try await servers.other.server.advance(by: .seconds(2))
    case .fewerRights:
      let renewed = try await servers.root.callStatus(
        "session.renew", ["token": "root users 9000"])
      #expect(renewed == "ok")
    case .sessionEnd:
      _ = try await dispatch.revoke(SessionRevocation(session: servers.session), by: nil)
      servers.otherEngine.owner.withLock { $0 = .notFound }
    case .disconnection:
      let revocation = SessionRevocation(session: servers.session, client: servers.client)
      _ = try await dispatch.revoke(revocation, by: nil)
    case .departure:
      try await servers.root.close()
      await servers.first.server.loop.settle()
    }
    let isAllowed = [.none, .longerToken, .departure].contains(change)
    #expect(try await isOpened(at: servers.other) == isAllowed)
  }

  /// Lets the time pass after which a search is repeated, and other threads work on it. The first
  /// server is still there.
  private func retry(at servers: LinkedServers) async throws {
    servers.otherEngine.receive(.presence([:]), from: servers.firstName)
    try await servers.other.server.advance(by: .seconds(2))
    for _ in 0..<2_000 { await Task.yield() }
  }

  @Test func linkWaitsWhileItsSenderCannotBeFound() async throws {
    // The time passes while tasks that are not awaited begin to wait for it.
    let servers = try await LinkedServers(self, seconds: 1_000_000)
    let owner = servers.otherEngine.owner.withLock { owner in
      defer { owner = nil }
      return owner
    }
    let (ben, _) = try await open(
      servers.other, "ben users 1000000", ["hosts": [["scheme": "native", "kind": "page"]]])
    while servers.otherEngine.failedSearches.load(ordering: .relaxed) == 0 { await Task.yield() }
    await servers.other.server.loop.settle()
    #expect(try await ben.hasNoPendingMessages())
    // It does not block the others.
    try await ben.call("deliver", "router.deliver", ["uri": "native://own"])
    let own = try await ben.nextRequest("page.open")
    #expect(own["params"]?["page"]?["uri"] == "native://own")
    try await ben.respond(own, .null)
    // Nor does it end, however often the search fails.
    for _ in 0..<DeepLinkQueue.maxAttempts {
      let failed = servers.otherEngine.failedSearches.load(ordering: .relaxed)
      while servers.otherEngine.failedSearches.load(ordering: .relaxed) == failed {
        try await retry(at: servers)
      }
    }
    servers.otherEngine.owner.withLock { $0 = owner }
    var shown: Value?
    while shown == nil {
      try await retry(at: servers)
      try await ben.call("ping", "$/ping", [:])
      while true {
        let message = try await ben.nextMessage()
        if message["method"] == "page.open" { shown = message["params"]?["page"]?["uri"] }
        if message["id"] == "ping" { break }
      }
    }
    #expect(shown == "native://shop")
  }

  @Test func revocationRemovesLinksAtOtherServers() async throws {
    let servers = try await LinkedServers(self)
    let revocation = SessionRevocation(session: servers.session, client: servers.client)
    _ = try await servers.first.sessionServer.dispatch.revoke(revocation, by: nil)
    let other = servers.other.sessionServer
    while await !other.callerStatus(of: servers.client, in: servers.session).isRevoked {
      await Task.yield()
    }
    while other.unclaimedLinks.withLock({ $0.count }) > 0 { await Task.yield() }
  }

  /// How a client that has sent a link to its session leaves it.
  enum SenderDeparture: CaseIterable {
    case disconnection, guestDeparture, departure
  }

  /// The link waits for a host, is stored, and the server starts again without its sender.
  @Test(arguments: SenderDeparture.allCases)
  func restoredLinkOfAClientThatHasLeft(_ departure: SenderDeparture) async throws {
    let first = try bridge(store: store)
    let anna = try await SequencedClient(first, from: Handshake(token: "anna users 9000"))
    let opened = await anna.openResult
    let (sender, senderOpened): (WireClient, Value)
    if departure == .guestDeparture {
      try await anna.call("invite", "session.invite", ["routes": ["native://shop"]])
      let invitation = try await anna.wire.response("invite")["result"] ?? .null
      (sender, senderOpened) = try await WireClient.open(
        first,
        joining: [
          "session": invitation["session"] ?? .null, "invitation": invitation["token"] ?? .null,
        ])
    } else {
      (sender, senderOpened) = try await WireClient.open(
        first, joining: opened, from: Handshake(token: "anna users 300"))
    }
    #expect(try await sender.callStatus("router.deliver", ["uri": "native://shop"]) == "ok")
    if departure == .disconnection {
      _ = try await first.sessionServer.dispatch.revoke(
        SessionRevocation(
          session: try #require(opened["session"]?.string),
          client: try #require(senderOpened["client"]?.string)), by: nil)
    } else {
      try await sender.close()
      await first.server.loop.settle()
    }
    try await first.server.advance(by: .milliseconds(100))
    await first.loopSessions.flushStore()

    let second = try bridge(store: store)
    try await second.sessionServer.dispatch.restore()
    let resumed = try await anna.resume(
      after: 0, from: Handshake(token: "anna users 9000"), at: second)
    #expect(resumed["resumed"] == true)
    try await anna.call("host", "host.register", ["hosts": [["scheme": "native", "kind": "page"]]])
    _ = try await anna.wire.response("host")
    if departure == .departure {
      let open = try await anna.wire.nextRequest("page.open")
      #expect(open["params"]?["page"]?["uri"] == "native://shop")
      return
    }
    let session = try #require(opened["session"]?.string)
    while await second.loopSessions.pendingLinkCount(in: session) > 0 { await Task.yield() }
    try await anna.call("ping", "$/ping", [:])
    while true {
      let message = try await anna.wire.nextMessage()
      #expect(message["method"] != "page.open")
      if message["id"] == "ping" { break }
    }
  }

  // MARK: Calls

  /// The request to run a task that a host has received.
  private func run(at host: WireClient) async throws -> Value? {
    var run: Value?
    try await host.call("ping", "$/ping", [:])
    while true {
      let message = try await host.nextMessage()
      if message["method"] == "task.run" { run = message }
      if message["id"] == "ping" { return run }
    }
  }

  @Test(arguments: [(0, true), (301, false)])
  func declinedCallReachesTheNextHostUntilItsClientExpires(
    seconds: Int, isAllowed: Bool
  ) async throws {
    let bridge = try bridge()
    let members: ValueObject = ["hosts": [["scheme": "action", "kind": "task"]]]
    let (shell, opened) = try await open(bridge, "anna users 9000", members)
    let (second, _) = try await WireClient.open(
      bridge, members, joining: opened, from: Handshake(token: "anna users 9000"))
    let (caller, _) = try await WireClient.open(
      bridge, joining: opened, from: Handshake(token: "anna users 300"))
    try await caller.call(1, "router.invoke", ["uri": "action://work"])
    #expect(try await caller.hasNoPendingMessages())
    var hosts = [shell, second]
    var request = try await run(at: hosts[0])
    if request == nil {
      hosts.reverse()
      request = try await run(at: hosts[0])
    }
    try await bridge.server.advance(by: .seconds(seconds))
    try await hosts[0].decline(try #require(request))
    #expect(try await (run(at: hosts[1]) != nil) == isAllowed)
  }

  /// A host that works on a call of anna with an idempotency key.
  private func hostWithKeyedCall(
    _ bridge: InMemoryBridge
  ) async throws -> (host: SequencedClient, caller: SequencedClient, run: Value) {
    let host = try await SequencedClient(
      bridge, ["hosts": [["scheme": "action", "kind": "task"]]],
      from: Handshake(token: "anna users 9000"))
    let join: Value = [
      "session": await host.openResult["session"] ?? .null,
      "token": await host.openResult["joinToken"] ?? .null,
    ]
    let caller = try await SequencedClient(
      bridge, ["join": join], from: Handshake(token: "anna users 300"))
    try await caller.call("keyed", "router.invoke", ["uri": "action://work", "key": "k"])
    return (host, caller, try await host.wire.nextRequest("task.run"))
  }

  /// Whether the host gets the call again after it was reloaded.
  private func isRunAgain(_ run: Value, _ host: SequencedClient) async throws -> Bool {
    try await host.disconnect()
    #expect(
      try await host.resume(
        after: run["seq"]?.integer ?? 0, from: Handshake(token: "anna users 9000"), reloaded: true)[
          "resumed"] == true)
    try await host.call("ping", "$/ping", [:])
    while true {
      let message = try await host.wire.nextMessage()
      if message["method"] == "task.run" { return true }
      if message["id"] == "ping" { return false }
    }
  }

  @Test(
    arguments: [
      ("anna users 9000", 301, true), ("anna suspended 9000", 0, false), (nil, 301, false),
    ] as [(String?, Int, Bool)])
  func keyedCallIsRunAgainWithTheCurrentRights(
    renewal: String?, seconds: Int, isAllowed: Bool
  ) async throws {
    let bridge = try bridge()
    let (host, caller, run) = try await hostWithKeyedCall(bridge)
    if let renewal {
      try await caller.call("renew", "session.renew", ["token": .string(renewal)])
      #expect(try await caller.wire.response("renew")["error"] == nil)
    }
    try await bridge.server.advance(by: .seconds(seconds))
    #expect(try await isRunAgain(run, host) == isAllowed)
  }

  @Test(arguments: [false, true])
  func callThatWaitsForAnAbsentHostEndsWithItsClient(isRevoked: Bool) async throws {
    let bridge = try bridge()
    let (host, caller, run) = try await hostWithKeyedCall(bridge)
    try await host.disconnect()
    try await caller.call("late", "router.invoke", ["uri": "action://late", "key": "late"])
    #expect(try await caller.wire.hasNoPendingMessages())
    if isRevoked {
      let opened = await caller.openResult
      let revocation = SessionRevocation(
        session: try #require(opened["session"]?.string),
        client: try #require(opened["client"]?.string))
      _ = try await bridge.sessionServer.dispatch.revoke(revocation, by: nil)
    }
    let resumed = try await host.resume(
      after: run["seq"]?.integer ?? 0, from: Handshake(token: "anna users 9000"))
    #expect(resumed["resumed"] == true)
    try await host.call("ping", "$/ping", [:])
    var uris: [Value?] = []
    while true {
      let message = try await host.wire.nextMessage()
      if message["method"] == "task.run" { uris.append(message["params"]?["uri"]) }
      if message["id"] == "ping" { break }
    }
    #expect(uris == (isRevoked ? [] : ["action://late"]))
  }

  /// The call continues when its client is gone, but the host acts for nobody any more.
  @Test(arguments: [nil, 301, 0] as [Int?])
  func hostActsForTheCallerOfAKeyedCallUntilItsRightsEnd(seconds: Int?) async throws {
    let router = Router()
    try router.task("app://echo") { _ in 1 }
    let bridge = try bridge(router)
    let (host, caller, run) = try await hostWithKeyedCall(bridge)
    let opened = await caller.openResult
    switch seconds {
    case nil: break
    case 0:
      let revocation = SessionRevocation(
        session: try #require(opened["session"]?.string),
        client: try #require(opened["client"]?.string))
      _ = try await bridge.sessionServer.dispatch.revoke(revocation, by: nil)
    case let seconds?: try await bridge.server.advance(by: .seconds(seconds))
    }
    try await host.call(
      "act", "router.invoke", ["uri": "app://echo", "onBehalfOf": run["id"] ?? .null])
    let error = try await host.wire.response("act")["error"]
    #expect(error?["code"] == (seconds == nil ? nil : 2403))
    #expect(error?["data"]?["rule"] == (seconds == nil ? nil : "identity"))
  }

  @Test(arguments: [(0, 2), (301, 1)])
  func keyedCallIsMadeAgainAfterARestartUnlessItsClientHasExpired(
    seconds: Int, runCount: Int
  ) async throws {
    let router = Router()
    let runs = Locked(0)
    let (neverEnds, _) = AsyncStream.makeStream(of: Void.self)
    try router.task("action://work") { _ in
      runs.withLock { $0 += 1 }
      for await _ in neverEnds {}
      return .null
    }
    let first = try bridge(router, store: store)
    let caller = try await SequencedClient(first, from: Handshake(token: "anna users 300"))
    try await caller.call("keyed", "router.invoke", ["uri": "action://work", "key": "k"])
    try await first.server.advance(by: .milliseconds(100))
    await first.loopSessions.flushStore()
    while runs.withLock({ $0 }) == 0 { await Task.yield() }

    let second = try bridge(router, store: store, clockOffset: .seconds(seconds))
    try await second.sessionServer.dispatch.restore()
    let resumed = try await caller.resume(
      after: 0, from: Handshake(token: "anna users 9000"), at: second)
    #expect(resumed["resumed"] == true)
    if runCount == 1 {
      #expect(try await caller.wire.response("keyed")["error"]?["code"] == 2599)
    } else {
      while runs.withLock({ $0 }) < runCount { await Task.yield() }
    }
    #expect(runs.withLock { $0 } == runCount)
  }
}

extension LoopSessions {
  fileprivate func pendingLinkCount(in session: String) -> Int {
    sessions[session]?.assumeIsolated { $0.pendingLinks.count } ?? 0
  }
}

extension CallerStatus {
  fileprivate var isRevoked: Bool {
    if case .revoked = self { return true }
    return false
  }
}

/// Callers in requests of other servers.
@Suite struct PeerCallerTests {
  private static let caller = Caller(
    session: "s-1", identity: Identity(user: "anna", groups: ["users"]),
    client: .init(id: "s-1.c", name: nil, version: nil, page: nil))

  @Test func callerThatCannotBeReadIsNotTheApp() throws {
    let value = RecordCoder.value(of: PeerCaller(Self.caller))
    func read(_ value: Value?) throws -> PeerCaller {
      try RecordCoder.decode(from: value, "caller")
    }
    #expect(try read(value).client?.identity.user == "anna")
    #expect(try read("app").client == nil)
    var other = value.object ?? [:]
    other["identity"] = ["user": "anna"]
    for unreadable: Value in [.null, [:], 1, "anna", ["session": "s-1"], .object(other)] {
      #expect(throws: RecordDecodingError.self) { try read(unreadable) }
      #expect(throws: RecordDecodingError.self) {
        try RecordCoder.decode(CallerStatus.self, from: ["caller": unreadable], "status")
      }
      let link: Value = [
        "link": ["uri": "native://a", "params": [:]], "audience": ["all": true],
        "caller": unreadable, "expiresAt": 1,
      ]
      #expect(throws: RecordDecodingError.self) {
        try RecordCoder.decode(UnclaimedLinkRecord.self, from: link, "link")
      }
    }
    #expect(throws: RecordDecodingError.self) { try read(nil) }
    for status: CallerStatus in [.absent, .revoked, .present(Self.caller)] {
      let value = RecordCoder.value(of: status)
      let again = try RecordCoder.decode(CallerStatus.self, from: value, "status")
      #expect(RecordCoder.value(of: again) == value)
    }
  }

  /// The limits of a guest, or of a host that acts for its caller, are not known elsewhere.
  @Test func hostOfAnotherServerActsOnlyForACallerWithoutLimits() throws {
    let rights = Rights(Self.caller, PolicySource())
    func read(_ rights: Rights?) throws -> String {
      let value = RecordCoder.value(of: PeerCaller(rights, in: "s-1"))
      return switch try RecordCoder.decode(PeerCaller.self, from: value, "caller") {
      case .app: "app"
      case .client(let client): client.caller.identity.user?.description ?? ""
      case .limited: "limited"
      }
    }
    #expect(try read(nil) == "app")
    #expect(try read(rights) == "anna")
    #expect(try read(rights.intersection(Rights(Self.caller, PolicySource()))) == "limited")
  }
}
