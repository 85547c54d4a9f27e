import Testing
import WayPatterns
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// Pending deep links and their audiences, without a session.
struct PendingLinksTests {
  private static let budget = ByteBudget(.server, 1 << 30)

  /// Returns links with these URIs that wait, at most `limit`.
  private func pending(_ uris: [String], limit: Int = 4) throws -> PendingLinks {
    var links = PendingLinks(limit: limit)
    for uri in uris { try links.add(.init(deepLink: DeepLink(uri), rights: .app)) }
    return links
  }

  private func unclaimed(limit: Int) -> UnclaimedLinks {
    UnclaimedLinks(limit: limit, within: Self.budget)
  }

  /// The conditions of a session that runs a task at `action://` and has no hosts.
  private func conditions(_ gates: SessionGates = SessionGates()) throws -> DeepLinkConditions {
    let router = Router()
    try router.task("action://work") { _ in 1 }
    try router.task("action://login") { _ in 1 }
    try router.task("action://secret", name: "secret") { _ in 1 }
    router.add(Gate("signedIn", on: [.routes(["secret"])], opens: try RouteURI("action://login")))
    return DeepLinkConditions(
      session: "s", identity: Identity(),
      resolver: SessionDestinationResolver(router, limits: Limits(), ServerHosts(limits: Limits())),
      clients: SessionClients(of: "s", limits: Limits(), budget: Self.budget),
      gates: gates, state: .active,
      isPersisted: false, now: 0)
  }

  /// The call that begins with the last of some effects.
  private func beginCall(
    _ number: CallNumber, after effects: [PendingLinks.DeepLinkEffect],
    _ links: inout PendingLinks, _ conditions: DeepLinkConditions
  ) throws -> DeepLinkCall {
    guard case .open(let link) = effects.last,
      case .call(let call) = links.open(link, conditions).last
    else { throw CallError(.internal, "no link is opened") }
    links.callBegan(number, for: call, holdTimer: MemoryLoop().schedule(after: .zero) {})
    return call
  }

  @Test func opensOnlyLinksThatAreDue() throws {
    var links = try pending(["native://absent", "action://work"])
    let conditions = try conditions()
    let call = try beginCall(1, after: links.openNext(conditions), &links, conditions)
    #expect(call.uri == "action://work" && call.isLast)
    #expect(links.openNext(conditions).isEmpty)
    #expect(links.taskStarted(by: 1, conditions).count == 1)
    #expect(links.storedLinks.map(\.deepLink.uri) == ["native://absent"])
    #expect(links.callEnded(1, nil, conditions).isEmpty)
  }

  @Test func linksWaitAtTheirGate() throws {
    var links = try pending(["action://secret", "action://secret?n=2", "action://work"])
    let closed = try conditions()
    guard case .open(let first)? = links.openNext(closed).last else {
      Issue.record("no link is opened")
      return
    }
    var effects = links.open(first, closed)
    var asked = 0
    // Both links ask for the gate, and the third one is opened.
    while let effect = effects.popLast() {
      switch effect {
      case .ask(let gate, _):
        #expect(gate.name == "signedIn")
        asked += 1
      case .open(let link): effects += links.open(link, closed)
      case .call(let call):
        #expect(call.uri == "action://work")
        links.callBegan(1, for: call, holdTimer: MemoryLoop().schedule(after: .zero) {})
        effects += links.taskStarted(by: 1, closed)
      default: break
      }
    }
    #expect(asked == 2 && links.count == 2)

    var refused = links
    let error = CallError(.refused, "no")
    #expect(refused.gateRefused("other", error).isEmpty)
    #expect(refused.gateRefused("signedIn", error).count == 3)
    #expect(refused.count == 0)

    var gates = SessionGates()
    _ = gates.set("signedIn", isOpen: true)
    let open = try conditions(gates)
    effects = links.gateOpened("signedIn", open)
    for uri in ["action://secret", "action://secret?n=2"] {
      let call = try beginCall(2, after: effects, &links, open)
      #expect(call.uri == uri)
      effects = links.callEnded(2, nil, open)
    }
    #expect(links.count == 0)
  }

  @Test func linkOfReloadedHostIsOpenedAgainAFewTimes() throws {
    var links = try pending(["action://work"])
    let conditions = try conditions()
    var effects = links.openNext(conditions)
    for attempt in 1...DeepLinkQueue.maxAttempts {
      _ = try beginCall(attempt, after: effects, &links, conditions)
      effects = links.callEnded(attempt, CallError(.hostFailed, "reloaded"), conditions)
    }
    #expect(effects.count == 1)
    #expect(links.count == 0)
  }

  @Test func unclaimedLinksReachTheirAudience() throws {
    var links = unclaimed(limit: 1)
    try links.add(DeepLink("a:1"), for: .user("anna"), at: 0)
    try links.add(DeepLink("a:2"), for: .all, at: 0)
    #expect(throws: CallError.self) { try links.add(DeepLink("a:3"), for: .all, at: 0) }
    let all = links.claim(at: 0) { $0.audience == .all }
    #expect(all.map(\.deepLink.uri) == ["a:2"])
    #expect(throws: CallError.self) { try links.add(DeepLink("no uri"), for: .all, at: 0) }
    let others = links.claim(at: 0) { _ in true }
    #expect(others.map(\.deepLink.uri) == ["a:1"])
  }

  @Test func unclaimedLinksAreLimitedInBytesAndTime() throws {
    var links = unclaimed(limit: 100)
    let large = DeepLink("a:1", params: ["x": .string(String(repeating: "x", count: 1 << 20))])
    try links.add(large, for: .user("anna"), at: 0)
    #expect(throws: CallError.self) { try links.add(large, for: .user("anna"), at: 0) }
    try links.add(large, for: .user("ben"), at: 1)
    let part = links.claim(at: UnclaimedLinks.lifetime, maxBytes: 1) { _ in true }
    // The first one has expired.
    #expect(part.map(\.audience) == [.user("ben")])
    #expect(links.count == 0)
  }

  @Test func unclaimedLinkWithKeyWaitsOnce() throws {
    var links = unclaimed(limit: 4)
    for _ in 1...2 { try links.add(DeepLink("a:1", key: "k"), for: .all, at: 0) }
    #expect(links.count == 1)
    let error = #expect(throws: CallError.self) {
      try links.add(DeepLink("a:2", key: "k"), for: .all, at: 0)
    }
    #expect(error?.code == 2409)
    try links.add(DeepLink("a:2", key: "k"), for: .user("anna"), at: 0)
    #expect(links.count == 2)
  }

  /// The record of a link as earlier versions stored it, and one with all members.
  @Test(
    arguments: [
      (
        ["uri": "a:1", "params": ["n": 1], "caller": [:]] as Value,
        DeepLink("a:1", params: ["n": 1])
      ),
      (
        ["uri": "a:1", "params": [:], "exts": ["e": 1], "style": "root", "key": "k"] as Value,
        DeepLink("a:1", exts: ["e": 1], style: .root, key: "k")
      ),
    ])
  func readsStoredLinks(record: Value, link: DeepLink) throws {
    #expect(try RecordCoder.decode(DeepLinkRecord.self, from: record, "links").link == link)
    let value = Value.object(link.recordFields)
    #expect(try RecordCoder.decode(DeepLinkRecord.self, from: value, "link").link == link)
  }

  @Test func mergesKindsOfAllSubscribers() throws {
    var subscribers = Subscribers(limits: Limits())
    let pages = try TopicPattern("page.*", limit: 256)
    let sessions = try TopicPattern("session.*", limit: 256)
    #expect(try subscribers.add([sessions], for: 2, after: 0) == [sessions])
    #expect(try subscribers.add([pages], for: 1, after: 0) == [pages])
    #expect(try subscribers.add([pages], for: 1, after: 0) == [])
    #expect(subscribers.kinds == [.session, .page, .visibility])
    #expect(
      subscribers.clients.filter { $0.subscriptions.matches("page.opened") }.map(\.id) == [1])
    subscribers.removeAll(of: 1)
    #expect(subscribers.kinds == .session)
    subscribers.removeAll(of: 2)
    #expect(subscribers.kinds == [])
  }
}
