import Synchronization
import TestSupport
import Testing
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// What becomes of sessions when the server ends in the midst of them, and is started again on the
/// same store.
@Suite(.timeLimit(.minutes(1)))
struct DurableSessionTests {
  private let store = MemorySessionStore()

  /// A server on the store, which is let in nobody before it has taken up what is kept.
  private func start(
    _ router: Router = Router(), clockOff: Duration = .zero
  ) async throws -> InMemoryBridge {
    let bridge = try InMemoryBridge.conformance(router, store: store, clockOff: clockOff)
    try await bridge.hub.restore()
    return bridge
  }

  private func settle(_ bridge: InMemoryBridge) async throws {
    try await bridge.server.advance(by: .milliseconds(100))
    await bridge.loopHub.settleStore()
    await bridge.server.loop.settle()
  }

  /// A server ends as one does whose sessions others go on with.
  private func handOver(_ bridge: InMemoryBridge) async throws {
    let isOver = Locked(false)
    async let ended: Void = {
      await bridge.loopHub.handOver(for: .zero)
      isOver.withLock { $0 = true }
    }()
    // It looks again after a while whether the store has all, which takes none of the loop's time: who
    // is away for two minutes of that is given up.
    while !isOver.withLock({ $0 }) {
      try await bridge.server.advance(by: .milliseconds(20))
      await bridge.loopHub.settleStore()
      await bridge.server.loop.settle()
    }
    await ended
    await bridge.loopHub.settleStore()
  }

  private static let pages: ValueObject = ["hosts": [["scheme": "native", "kind": "page"]]]

  @Test func aPageThatIsOpenStaysSoAndItsResultArrives() async throws {
    let first = try await start()
    let host = try await SequencedClient(first, Self.pages)
    let opener = try await SequencedClient(first, joining: host.hello)
    try await opener.call("a", "router.open", ["uri": "native://address/list"])
    let asked = try await host.wire.request("page.open")
    try await host.reply(asked, .null)
    let opened = try await opener.wire.request("$/progress")
    #expect(opened["params"]?["value"]?["opened"]?["page"] == "p1")
    try await settle(first)

    let second = try await start()
    let again = try await host.resume(after: 1, at: second)
    #expect(again["resumed"] == true)
    #expect(again["restarted"] == true)
    let epoch = await host.hello["epoch"]
    #expect(again["epoch"] == epoch)
    try await host.call("stack", "navigation.stack", [:])
    let stack = try await host.wire.answer("stack")["result"]
    #expect(stack?["pages"]?.list?.compactMap { $0["id"] } == ["p1"])
    #expect(try await opener.resume(after: 1, at: second)["pending"]?.list?.count == 1)
    try await host.call("finish", "navigation.finish", ["page": "p1", "result": ["data": "Ulm"]])
    #expect(try await host.wire.answer("finish")["result"]?["closed"] == ["p1"])
    #expect(try await opener.wire.answer("a")["result"]?["data"] == "Ulm")
  }

  @Test func aSessionThatEndsWhileTheStoreWritesIsKeptNoMore() async throws {
    let bridge = try await start()
    let client = try await SequencedClient(bridge)
    try await settle(bridge)
    #expect(await store.sessions.count == 1)
    await store.hold()
    try await client.call("k", "router.invoke", ["uri": "action://echo", "key": "k"])
    await store.awaitHeld()
    // The change of before is under way.
    try await client.lose()
    try await bridge.server.advance(by: .seconds(120))
    await store.release()
    try await settle(bridge)
    #expect(await store.sessions.isEmpty)
  }

  @Test func whoIsAwaitedIsAwaySinceTheServerHasBegun() async throws {
    let first = try await start()
    let client = try await SequencedClient(first)
    try await settle(first)
    let second = try await start()
    try await second.server.advance(by: .seconds(2))
    let session = try #require(await client.hello["session"]?.string)
    let told = await second.loopHub.detail(session, withRecords: false)
    #expect(told?["clients"]?.list?.first?["away"] == 2000)
  }

  @Test func whatWasBeingDoneIsNotKnownAndWhatHasAKeyIsDoneAgain() async throws {
    let first = try await start()
    let host = try await SequencedClient(
      first, ["hosts": [["patterns": ["action://toast"], "kind": "task"]]])
    let caller = try await SequencedClient(first, joining: host.hello)
    try await caller.call("plain", "router.invoke", ["uri": "action://toast"])
    _ = try await host.wire.request("task.run")
    try await caller.call("keyed", "router.invoke", ["uri": "action://toast", "key": "k"])
    _ = try await host.wire.request("task.run")
    try await settle(first)

    let second = try await start()
    #expect(try await caller.resume(after: 0, at: second)["resumed"] == true)
    #expect(try await caller.wire.answer("plain")["error"]?["code"] == 2599)
    #expect(try await host.resume(after: 2, at: second)["resumed"] == true)
    let run = try await host.wire.request("task.run")
    try await host.reply(run, "done")
    #expect(try await caller.wire.answer("keyed")["result"] == "done")
    let census = await second.hub.census()
    #expect(census.pendingRequests == 0)
    #expect(census.callsInFlight == 0)
  }

  /// A client whose call with a key a first server has answered, and has kept that; and how to call.
  private func keyedCaller(_ runs: Counter) async throws -> (SequencedClient, params: Value) {
    let first = try await start(Self.counting(runs))
    let caller = try await SequencedClient(first)
    let params: Value = ["uri": "action://count", "key": "k"]
    try await caller.call(1, "router.invoke", params)
    _ = try await caller.wire.answer(1)
    try await settle(first)
    return (caller, params)
  }

  @Test func aResultWithAKeyArrivesAndIsNotComputedAnew() async throws {
    let runs = Counter()
    let (caller, params) = try await keyedCaller(runs)

    let second = try await start(Self.counting(runs))
    // It has not come to the client before the server ended.
    #expect(try await caller.resume(after: 0, at: second)["resumed"] == true)
    #expect(try await caller.wire.answer(1)["result"] == 1)
    try await caller.call(2, "router.invoke", params)
    #expect(try await caller.wire.answer(2)["result"] == 1)
    #expect(runs.count == 1)
  }

  @Test(arguments: [-60, 60])
  func aResultIsKeptWhereTheNextServersClockIsOff(byMinutes minutes: Int) async throws {
    let runs = Counter()
    let (caller, params) = try await keyedCaller(runs)

    let second = try await start(
      Self.counting(runs), clockOff: .seconds(60 * minutes))
    #expect(try await caller.resume(after: 1, at: second)["resumed"] == true)
    try await caller.call(2, "router.invoke", params)
    #expect(try await caller.wire.answer(2)["result"] == 1)
    try await second.server.advance(by: .seconds(600))
    try await caller.call(3, "router.invoke", params)
    #expect(try await caller.wire.answer(3)["result"] == 2)
  }

  /// A session keeps so many results: what takes another's place is the next server's choice, too.
  @Test func theResultsThatWereUsedLastAreKeptByTheNextServerAsWell() async throws {
    let runs = Counter()
    let first = try await start(Self.counting(runs))
    let caller = try await SequencedClient(first)
    func call(_ key: String) async throws -> Value? {
      try await caller.call(
        .string(key), "router.invoke", ["uri": "action://count", "key": .string(key)])
      return try await caller.wire.answer(.string(key))["result"]
    }
    let count = Limits().maxKeys
    // The first by their names are the last that are called.
    for place in 0..<count { _ = try await call("k\(1000 - place)") }
    try await settle(first)

    let second = try await start(Self.counting(runs))
    #expect(try await caller.resume(after: Int64(count), at: second)["resumed"] == true)
    #expect(try await call("new") == .integer(Int64(count) + 1))
    #expect(try await call("k\(1001 - count)") == .integer(Int64(count)))
    #expect(try await call("k1000") == .integer(Int64(count) + 2))
  }

  /// A router with a task that counts its runs.
  private static func counting(_ runs: Counter) throws -> Router {
    let router = Router()
    try router.task("action://count") { _ in .integer(Int64(runs.next())) }
    return router
  }

  @Test func nothingLeavesThatRestsOnWhatTheStoreDoesNotHave() async throws {
    let bridge = try await start()
    let host = try await SequencedClient(bridge, Self.pages)
    let caller = try await SequencedClient(bridge, joining: host.hello)
    try await settle(bridge)
    await store.hold()
    // This rests on nothing.
    try await caller.call("echo", "router.invoke", ["uri": "action://echo"])
    _ = try await caller.wire.answer("echo")
    try await caller.call("adopt", "navigation.adopt", ["uri": "native://address/list"])
    await store.awaitHeld()
    // It would overtake what does not go out yet.
    try await caller.call("late", "router.invoke", ["uri": "action://echo"])
    await bridge.server.loop.settle()
    #expect(try await caller.wire.hasHeardNothing())
    await store.release()
    #expect(try await caller.wire.answered() == "adopt")
    #expect(try await caller.wire.answered() == "late")
  }

  @Test func whatWasSentBeforeIsNotDoneASecondTime() async throws {
    let runs = Counter()
    let first = try await start(Self.counting(runs))
    let caller = try await SequencedClient(first)
    try await settle(first)
    await store.hold()
    for id in 1...3 as ClosedRange<Int64> {
      try await caller.call(.integer(id), "router.invoke", ["uri": "action://count"])
      _ = try await caller.wire.answer(.integer(id))
    }
    #expect(runs.count == 3)

    // The store has not heard of them. The client has the answers to two.
    await store.fail(with: SessionStoreError.leaseLost(sessions: []))
    await store.release()
    let second = try await start(Self.counting(runs))
    await store.fail(with: nil)
    let again = try await caller.resume(after: 2, at: second)
    #expect(again["resumed"] == true)
    #expect(again["received"] == 0)
    #expect(again["sent"] == 2)
    await caller.forgetSent(after: 0)
    for id in 1...3 as ClosedRange<Int64> {
      try await caller.call(.integer(id), "router.invoke", ["uri": "action://count"])
      #expect(try await caller.wire.answer(.integer(id))["error"]?["code"] == 2599)
    }
    // What changes nothing is simply done, and what is new too.
    try await caller.call(4, "router.invoke", ["uri": "action://count"])
    let answer = try await caller.wire.answer(4)
    #expect(answer["result"] == 4)
    #expect(answer["seq"] == 6)
  }

  /// `comesBetween`: whether the client has gone on with the second server, and not sent yet what it
  /// had sent to the first.
  @Test(arguments: [false, true])
  func whatWasSentBeforeACrashIsNotDoneAfterAHandOverEither(comesBetween: Bool) async throws {
    let runs = Counter()
    let first = try await start(Self.counting(runs))
    let caller = try await SequencedClient(first)
    try await settle(first)
    await store.hold()
    try await caller.call(1, "router.invoke", ["uri": "action://count"])
    _ = try await caller.wire.answer(1)
    await store.fail(with: SessionStoreError.leaseLost(sessions: []))
    await store.release()
    let second = try await start(Self.counting(runs))
    await store.fail(with: nil)
    if comesBetween { #expect(try await caller.resume(after: 0, at: second)["received"] == 0) }
    try await handOver(second)
    let third = try await start(Self.counting(runs))
    #expect(try await caller.resume(after: 0, at: third)["received"] == 0)
    await caller.forgetSent(after: 0)
    try await caller.call(1, "router.invoke", ["uri": "action://count"])
    #expect(try await caller.wire.answer(1)["error"]?["code"] == 2599)

    // What no server has taken is done, however often the session was handed over meanwhile.
    try await handOver(third)
    try await handOver(try await start(Self.counting(runs)))
    let last = try await start(Self.counting(runs))
    await caller.forgetSent(after: 2)
    #expect(try await caller.resume(after: 1, at: last)["received"] == 1)
    await caller.forgetSent(after: 1)
    try await caller.call(2, "router.invoke", ["uri": "action://count"])
    #expect(try await caller.wire.answer(2)["result"] == 2)
  }

  @Test func anAnswerThatGotLostWithTheServerIsNotKnown() async throws {
    let runs = Counter()
    let first = try await start(Self.counting(runs))
    let caller = try await SequencedClient(first)
    for id in 1...3 as ClosedRange<Int64> {
      try await caller.call(.integer(id), "router.invoke", ["uri": "action://count"])
      _ = try await caller.wire.answer(.integer(id))
    }
    // The store has heard of the calls, and not of their answers, of which one has come.
    try await settle(first)
    let second = try await start(Self.counting(runs))
    #expect(try await caller.resume(after: 1, at: second)["received"] == 3)
    for id in 2...3 as ClosedRange<Int64> {
      let answer = try await caller.wire.answer(.integer(id))
      #expect(answer["error"]?["code"] == 2599)
      #expect(answer["seq"] == .integer(id))
    }
    #expect(runs.count == 3)
  }

  @Test func whatAClientDoesNotAcknowledgeForLongIsKept() async throws {
    let first = try await start()
    let caller = try await SequencedClient(first)
    try await caller.call(1, "router.invoke", ["uri": "action://echo", "params": ["n": 1]])
    _ = try await caller.wire.answer(1)
    // What the loop's time brings about is written in between.
    for _ in 1...5 {
      try await first.server.advance(by: .seconds(1))
      try await settle(first)
    }
    let second = try await start()
    _ = try await caller.resume(after: 0, at: second)
    #expect(try await caller.wire.answer(1)["result"]?["n"] == 1)
  }

  @Test func aServerThatEndsTwiceBeforeAClientComesLosesNothing() async throws {
    let first = try await start()
    let host = try await SequencedClient(
      first, ["hosts": [["patterns": ["action://toast"], "kind": "task"]]])
    let caller = try await SequencedClient(first, joining: host.hello)
    for (id, params) in [
      ("plain", ["uri": "action://toast"]), ("keyed", ["uri": "action://toast", "key": "k"]),
    ] as [(Value, Value)] {
      try await caller.call(id, "router.invoke", params)
      _ = try await host.wire.request("task.run")
    }
    try await settle(first)
    let second = try await start()
    try await settle(second)
    let third = try await start()
    // What it has taken of the first is more than the third knows of.
    #expect(try await caller.resume(after: 7, at: third)["sent"] == 7)
    let answer = try await caller.wire.answer("plain")
    #expect(answer["error"]?["code"] == 2599)
    #expect(answer["seq"] == 8)
    _ = try await host.resume(after: 2, at: third)
    try await host.reply(try await host.wire.request("task.run"), "done")
    #expect(try await caller.wire.answer("keyed")["result"] == "done")
  }

  @Test func whoDoesNotSayWhatItHasSentBeginsAnew() async throws {
    let first = try await start()
    let caller = try await SequencedClient(first)
    try await settle(first)
    let second = try await start()
    let hello = await caller.hello
    let wire = try await WireClient.connect(to: second, subprotocol: LoopSessions.subprotocol)
    try await wire.call(
      "again", "session.resume",
      [
        "client": hello["client"] ?? .null, "token": hello["token"] ?? .null,
        "epoch": hello["epoch"] ?? .null, "received": 0,
      ])
    let result = try await wire.answer("again")["result"]
    #expect(result?["resumed"] == false)
    #expect(result?["reason"] == "gap")
  }

  @Test func whoWasTakenOverFromSendsItsClientsAwayAndServesOthers() async throws {
    let first = try await start()
    let caller = try await SequencedClient(first)
    try await settle(first)
    let second = try await start()
    // Nothing that the other server does not know of goes out; it may be found out before.
    try? await caller.call("adopt", "navigation.adopt", ["uri": "native://address/list"])
    #expect(try await caller.wire.end() == 4200)
    let newcomer = try await SequencedClient(first)
    try await newcomer.call("adopt", "navigation.adopt", ["uri": "native://address/list"])
    #expect(try await newcomer.wire.answer("adopt")["error"] == nil)
    #expect(first.loopHub.writer?.failure == nil)

    #expect(try await caller.resume(after: 0, at: second)["resumed"] == true)
    await caller.forgetSent(after: 0)
    try await caller.call("stack", "navigation.stack", [:])
    #expect(try await caller.wire.answer("stack")["result"]?["pages"] == [])
    withExtendedLifetime((first, second)) {}
  }

  @Test func aStoreIsHandedASessionAsAWholeWhenItWantsThat() async throws {
    /// Wants every session whole, each time.
    actor Wanting: SessionStore {
      private(set) var changes: [SessionChange] = []

      func load(as owner: String) -> [StoredSession] { [] }
      func append(_ changes: [SessionChange]) -> Set<String> {
        self.changes += changes
        return Set(changes.map(\.session))
      }
      func close() {}
    }
    let store = Wanting()
    let bridge = try InMemoryBridge.conformance(store: store)
    try await bridge.hub.restore()
    let client = try await SequencedClient(bridge)
    for id in 1...2 as ClosedRange<Int64> {
      try await client.call(
        .integer(id), "navigation.adopt", ["uri": .string("native://address/list?n=\(id)")])
      #expect(try await client.wire.answer(.integer(id))["error"] == nil)
    }
    let steps = await store.changes.map(\.steps)
    #expect(steps.first?.first != .removeAll)
    #expect(steps.count > 2 && steps.dropFirst().allSatisfy { $0.first == .removeAll })
    let last = try #require(steps.last)
    let names = last.compactMap { step in
      if case .put(let part, _) = step { part } else { nil }
    }
    #expect(Set(names).isSuperset(of: ["session", "stack", "client/1", "page/p1", "page/p2"]))
  }

  @Test func aBatchIsAnsweredAsAWhole() async throws {
    let first = try await start()
    let host = try await SequencedClient(
      first, ["hosts": [["patterns": ["action://toast"], "kind": "task"]]])
    let caller = try await SequencedClient(first, joining: host.hello)
    func call(_ id: Value, _ params: Value) -> ValueObject {
      ["id": id, "method": "router.invoke", "params": params]
    }
    try await caller.batch([
      call(1, ["uri": "action://echo", "params": ["n": 1]]), call(2, ["uri": "action://toast"]),
      call(3, ["uri": "action://toast", "key": "k"]),
    ])
    for _ in 1...2 { _ = try await host.wire.request("task.run") }
    try await settle(first)

    let second = try await start()
    _ = try await host.resume(after: 2, at: second)
    _ = try await caller.resume(after: 0, at: second)
    let run = try await host.wire.request("task.run")
    try await host.reply(run, "done")
    var message = try await caller.wire.message()
    while message.list == nil { message = try await caller.wire.message() }
    #expect(message.list?.map { $0["result"] ?? $0["error"]?["code"] } == [["n": 1], 2599, "done"])
  }

  @Test func guestsAndInvitationsKeepTheirRights() async throws {
    let first = try await start()
    let shell = try await SequencedClient(first, Self.pages)
    try await shell.call(
      "invite", "session.invite", ["routes": ["action://echo"], "uses": 2, "expiresMs": 600_000])
    let invitation = try await shell.wire.answer("invite")["result"]
    func guest(_ bridge: InMemoryBridge) async throws -> SequencedClient {
      try await SequencedClient(
        bridge,
        joining: [
          "session": invitation?["session"] ?? .null, "joinToken": invitation?["token"] ?? .null,
        ])
    }
    let one = try await guest(first)
    try await one.call(1, "router.invoke", ["uri": "action://echo"])
    _ = try await one.wire.answer(1)
    try await settle(first)

    let second = try await start()
    #expect(try await shell.resume(after: 1, at: second)["resumed"] == true)
    #expect(try await one.resume(after: 1, at: second)["guest"] == true)
    try await one.call(2, "router.invoke", ["uri": "action://toast"])
    #expect(try await one.wire.answer(2)["error"]?["data"]?["rule"] == "invitation")
    let two = try await guest(second)
    #expect(await two.hello["guest"] == true)
    // It was for two.
    #expect(try await guest(second).hello.isNull)
  }

  @Test func aPageOfSwiftCodeEndsAndIsTold() async throws {
    func router() throws -> Router {
      let router = Router()
      try router.page("native://swift", PageHandler(open: { _, _ in }, close: { _, _, _ in }))
      return router
    }
    let first = try await start(router())
    let caller = try await SequencedClient(first)
    try await caller.call("a", "router.open", ["uri": "native://swift"])
    _ = try await caller.wire.request("$/progress")
    try await settle(first)
    let second = try await start(router())
    _ = try await caller.resume(after: 1, at: second)
    let outcome = try await caller.wire.answer("a")["result"]
    #expect(outcome?["outcome"] == "failed")
    #expect(await second.hub.census().pages == 0)
  }

  @Test func linksThatWaitAreFollowed() async throws {
    let first = try await start()
    let caller = try await SequencedClient(first)
    try await caller.call(1, "router.deliver", ["uri": "native://address/linked"])
    _ = try await caller.wire.answer(1)
    try await settle(first)
    let second = try await start()
    _ = try await caller.resume(after: 1, at: second)
    try await caller.call(2, "host.register", ["hosts": [["scheme": "native", "kind": "page"]]])
    let parent = try await caller.wire.request("page.open")
    #expect(parent["params"]?["page"]?["uri"] == "native://address/list")
    try await caller.reply(parent, .null)
    let asked = try await caller.wire.request("page.open")
    #expect(asked["params"]?["page"]?["uri"] == "native://address/linked")
  }

  @Test func aStoreThatFailsIsDoneWithoutUntilItWorks() async throws {
    struct Full: Error {}
    let first = try await start()
    let host = try await SequencedClient(first, Self.pages)
    await store.fail(with: Full())
    try await host.call("adopt", "navigation.adopt", ["uri": "native://address/list"])
    #expect(try await host.wire.answer("adopt")["result"] != nil)
    #expect(first.loopHub.writer?.failure?.contains("Full") == true)
    try await host.call("second", "navigation.adopt", ["uri": "native://address/edit"])
    _ = try await host.wire.answer("second")
    await store.fail(with: nil)
    try await first.server.advance(by: .seconds(31))
    await first.loopHub.writer?.settle()
    await first.server.loop.settle()
    #expect(first.loopHub.writer?.failure == nil)

    let second = try await start()
    #expect(try await host.resume(after: 2, at: second)["resumed"] == true)
    #expect(await second.hub.census().pages == 2)
  }

  @Test func aServerThatDrainsLeavesItsSessionsToTheNext() async throws {
    let first = try await start()
    let host = try await SequencedClient(
      first, ["hosts": [["patterns": ["action://toast"], "kind": "task"]]])
    let caller = try await SequencedClient(first, joining: host.hello)
    try await caller.call("plain", "router.invoke", ["uri": "action://toast"])
    try await caller.call("keyed", "router.invoke", ["uri": "action://toast", "key": "k"])
    for _ in 1...2 { _ = try await host.wire.request("task.run") }
    await first.hub.drain()
    #expect(try await caller.wire.answer("plain")["error"]?["code"] == -32802)
    try await caller.lose()
    try await host.lose()
    await first.hub.closeStore()

    let second = try await start()
    _ = try await host.resume(after: 2, at: second)
    try await host.reply(try await host.wire.request("task.run"), "done")
    _ = try await caller.resume(after: 1, at: second)
    #expect(try await caller.wire.answer("keyed")["result"] == "done")
  }

  @Test func aSessionThatCannotBeReadStaysAndOthersGoOn() async throws {
    let first = try await start()
    let (one, two) = (try await SequencedClient(first), try await SequencedClient(first))
    let broken = await one.hello["session"]?.string ?? ""
    try await settle(first)
    let lease = try #require(await store.sessions.first { $0.id == broken }).lease
    try await store.append([
      SessionChange(
        session: broken, lease: lease, steps: [.put(part: "stack", bytes: Array("no".utf8))])
    ])
    let second = try await start()
    #expect(try await one.resume(after: 0, at: second)["reason"] == "unknown")
    #expect(try await two.resume(after: 0, at: second)["resumed"] == true)
    #expect(await store.sessions.contains { $0.id == broken })
  }

  @Test func whoDoesNotComeIsForgotten() async throws {
    let first = try await start()
    let caller = try await SequencedClient(first)
    try await caller.call(1, "router.invoke", ["uri": "action://echo"])
    try await settle(first)
    let second = try await start()
    #expect(await second.hub.census().sessions == 1)
    try await second.server.advance(by: .seconds(121))
    await second.loopHub.writer?.settle()
    #expect(await second.hub.census().sessions == 0)
    #expect(await store.sessions.isEmpty)
    _ = caller
  }

  @Test func aSessionOfWhoDoesNotNumberIsNotKept() async throws {
    let bridge = try await start()
    let (client, _) = try await WireClient.open(bridge)
    _ = try await client.invoke("action://echo")
    try await settle(bridge)
    let parts = await store.sessions.first?.parts.keys
    #expect(parts?.contains { $0.hasPrefix("client/") } == false)
    let plain = try await WireClient.connect(to: bridge)
    _ = try await plain.invoke("action://echo")
    try await settle(bridge)
    #expect(await store.sessions.count == 1)
  }
}

/// Counts what a task does.
private final class Counter: Sendable {
  private let held = Atomic(0)
  var count: Int { held.load(ordering: .relaxed) }
  func next() -> Int { held.add(1, ordering: .relaxed).newValue }
}
