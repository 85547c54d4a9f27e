import TestSupport
import Testing
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// What a server makes of what others send: also of what no server of this version would.
@Suite(.timeLimit(.minutes(1)))
struct OtherServersTests {
  private let engine = StubClusterEngine()
  private let bridge: InMemoryBridge
  private var group: SessionServer { bridge.hub }

  init() async throws {
    bridge = InMemoryBridge(Router(), cluster: Cluster(engine))
    try await group.restore()
    engine.receive(.presence(["sessions": 1]), from: "b")
  }

  /// The members of what it answers to a question.
  private func answer(_ question: Value) async throws -> Value {
    try await PeerHandlers(group: group, openedPages: Locked([:])).answer(question) { _ in }
  }

  @Test(arguments: [Int64.min, -1, 0, 1001, .max])
  func aListHasALimitWhateverIsAsked(_ limit: Int64) async throws {
    let told = try await answer(["ask": "briefs", "limit": .integer(limit)])
    #expect(told["sessions"] == [])
  }

  @Test func aPieceWithinAPieceIsCountedAndLeft() {
    let inner = ClusterMessage.piece([1, 2, 3], isLast: true).bytes
    engine.receive(.piece(inner, isLast: true), from: "b")
    #expect(group.cluster?.counts.unreadable.value == 1)
    // A message in pieces that is one still comes.
    let beat = ClusterMessage.beat.bytes
    engine.receive(.piece(beat, isLast: true), from: "b")
    #expect(group.cluster?.counts.unreadable.value == 1)
  }

  @Test(
    arguments: [
      "push", "open", "close", "run", "sessions", "group", "deliver", "forget", "hosts", "links",
      "retained", "table", "policy", "briefs", "session", "explain", "no such question",
    ])
  func aQuestionOfNothingTrapsNobody(_ name: String) async {
    let members: [Value] = [
      ["ask": .string(name)],
      ["ask": .string(name), "to": 1, "of": ["all": false], "push": [], "limit": "x"],
      [
        "ask": .string(name), "session": .integer(.max), "caller": ["session": [:]], "to": "",
        "timeoutMs": .integer(.min), "uri": .string(String(repeating: "x", count: 100_000)),
      ],
      [
        "ask": .string(name), "to": ["all": true], "timeoutMs": .integer(.max),
        "revision": .integer(.min), "uri": "x:y", "params": [1],
      ],
    ]
    for question in members { _ = try? await answer(question) }
  }

  /// Who was away for too long is told so, and does not come again and again, while others of the
  /// session are there.
  @Test func whoHasLeftIsNoMemberOfASessionThatIsHere() async throws {
    let first = try await SequencedClient(bridge)
    let second = try await SequencedClient(bridge, joining: first.hello)
    try await second.lose()
    try await bridge.server.advance(by: .seconds(600))
    let answer = try await second.resume(after: 1)
    #expect(answer["resumed"] == false && answer["reason"] == "unknown")
  }

  /// Keeps what it is handed; where it is held, as soon as it is let.
  private struct SlowStore: SharedSessionStore {
    let isHeld = Locked(false)
    let handed = Mailbox<Int>()
    let mayKeep = Mailbox<Bool>()

    func load(as owner: String) -> [StoredSession] { [] }
    func append(_ changes: [SessionChange]) async -> Set<String> {
      guard isHeld.withLock({ $0 }) else { return [] }
      handed.put(changes.count)
      _ = await mayKeep.next(within: .seconds(60))
      return []
    }
    func close() {}
    func take(_ session: String) -> StoredSession? { nil }
    func takeAll(_ taken: @Sendable (StoredSession) async -> Void) -> Set<String> { [] }
  }

  /// The lease is lost again while it is found out what is still here.
  @Test func whatWasLostMeanwhileIsNotSettled() async throws {
    let store = SlowStore()
    let bridge = InMemoryBridge(Router(), cluster: Cluster(StubClusterEngine(store)))
    try await bridge.hub.restore()
    let hub = bridge.loopHub
    _ = try await SequencedClient(bridge)
    await hub.cutOff("once", untilVerified: true)
    store.isHeld.withLock { $0 = true }
    async let first: Void = hub.verify()
    #expect(await store.handed.next(within: .seconds(60)) == 1)
    await hub.cutOff("again", untilVerified: true)
    store.isHeld.withLock { $0 = false }
    store.mayKeep.put(true)
    try await first
    #expect(await hub.closedReason != nil)
    try await hub.verify()
    #expect(await hub.closedReason == nil)
  }

  /// What no other server can go on with has the time to end that it has on a server alone.
  @Test func callsOfPlainClientsMayEndAsTheServerDoes() async throws {
    let (begun, mayEnd) = (Mailbox<Bool>(), Mailbox<Bool>())
    let router = Router()
    try router.task("action://slow") { _ in
      begun.put(true)
      return .bool(await mayEnd.next(within: .seconds(60)) == true)
    }
    let bridge = InMemoryBridge(router, cluster: Cluster(StubClusterEngine()))
    try await bridge.hub.restore()
    let plain = try await WireClient.connect(to: bridge)
    try await plain.call(1, "router.invoke", ["uri": "action://slow"])
    #expect(await begun.next(within: .seconds(60)) == true)
    async let drained: Void = bridge.hub.drain(for: .seconds(30))
    #expect(try await plain.event()["topic"] == "server.draining")
    mayEnd.put(true)
    #expect(try await plain.answer(1)["result"] == true)
    try await bridge.server.advance(by: .milliseconds(20))
    await drained
  }

  @Test func whileNobodyCanComeInTheTimeToComeBackDoesNotPass() async throws {
    let client = try await SequencedClient(bridge)
    try await client.call(1, "$/ping", [:])
    _ = try await client.wire.answer(1)
    engine.tenure.lost()
    try await bridge.server.advance(by: .milliseconds(100))
    #expect(try await client.wire.end() == CloseCode.drain.rawValue)
    try await bridge.server.advance(by: .seconds(600))
    engine.renew()
    try await bridge.server.advance(by: .milliseconds(100))
    try await bridge.server.advance(by: .seconds(119))
    #expect(try await client.resume(after: 1)["resumed"] == true)
    // Who is away when that begins is so as well.
    try await client.lose()
    try await bridge.server.advance(by: .seconds(60))
    engine.tenure.lost()
    try await bridge.server.advance(by: .seconds(600))
    engine.renew()
    try await bridge.server.advance(by: .seconds(119))
    #expect(await group.census().absentClients == 1)
    try await bridge.server.advance(by: .seconds(2))
    #expect(await group.census().sessions == 0)
  }
}
