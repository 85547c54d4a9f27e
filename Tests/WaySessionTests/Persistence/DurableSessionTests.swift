import Synchronization
import TestSupport
import Testing
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// Sessions when the server ends abruptly and restarts on the same store.
@Suite(.timeLimit(.minutes(1)))
struct DurableSessionTests {
  private let store = MemorySessionStore()

  /// Starts a server on the store. It accepts clients only after it has restored the stored
  /// sessions.
  private func startServer(
    _ router: Router = Router(), clockOffset: Duration = .zero
  ) async throws -> InMemoryBridge {
    let bridge = try InMemoryBridge.conformance(router, store: store, clockOffset: clockOffset)
    try await bridge.sessionServer.dispatch.restore()
    return bridge
  }

  private func settle(_ bridge: InMemoryBridge) async throws {
    try await bridge.server.advance(by: .milliseconds(100))
    await bridge.loopSessions.flushStore()
    await bridge.server.loop.settle()
  }

  /// Ends a server whose sessions other servers continue.
  private func handOver(_ bridge: InMemoryBridge) async throws {
    let isOver = Locked(false)
    async let ended: Void = {
      await bridge.loopSessions.handOver(for: .zero)
      isOver.withLock { $0 = true }
    }()
    // The server checks repeatedly whether the store has everything. Clock time must pass for that,
    // but less than two minutes, after which it removes disconnected clients.
    while !isOver.withLock({ $0 }) {
      try await bridge.server.advance(by: .milliseconds(20))
      await bridge.loopSessions.flushStore()
      await bridge.server.loop.settle()
    }
    await ended
    await bridge.loopSessions.flushStore()
  }

  private static let address: Value = [
    "id": "a3", "name": "Home", "street": "Main Street 1", "city": "Ulm",
  ]
  private static let pageHosts: ValueObject = ["hosts": [["scheme": "native", "kind": "page"]]]

  @Test func openPageSurvivesRestartAndReturnsResult() async throws {
    let first = try await startServer()
    let host = try await SequencedClient(first, Self.pageHosts)
    let opener = try await SequencedClient(first, joining: host.openResult)
    try await opener.call("a", "router.open", ["uri": "native://address/list"])
    let request = try await host.wire.nextRequest("page.open")
    try await host.respond(request, .null)
    let opened = try await opener.wire.nextRequest("$/progress")
    #expect(opened["params"]?["value"]?["opened"]?["page"] == "p1")
    try await settle(first)

    let second = try await startServer()
    let again = try await host.resume(after: 1, at: second)
    #expect(again["resumed"] == true)
    #expect(again["restarted"] == true)
    let epoch = await host.openResult["epoch"]
    #expect(again["epoch"] == epoch)
    try await host.call("stack", "navigation.stack", [:])
    let stack = try await host.wire.response("stack")["result"]
    #expect(stack?["pages"]?.array?.compactMap { $0["id"] } == ["p1"])
    #expect(try await opener.resume(after: 1, at: second)["pending"]?.array?.count == 1)
    try await host.call(
      "finish", "navigation.finish", ["page": "p1", "result": ["data": Self.address]])
    #expect(try await host.wire.response("finish")["result"]?["closed"] == ["p1"])
    #expect(try await opener.wire.response("a")["result"]?["data"] == Self.address)
  }

  @Test func guardAndEarlyResultSurviveRestart() async throws {
    let first = try await startServer()
    let host = try await SequencedClient(first, Self.pageHosts)
    for (id, uri) in [("m", "native://address/list"), ("a", "native://address/list")] {
      try await host.call(.string(id), "router.open", ["uri": .string(uri)])
      try await host.respond(try await host.wire.nextRequest("page.open"), .null)
      _ = try await host.wire.nextRequest("$/progress")
    }
    try await host.call("g", "page.setGuard", ["page": "p2", "timeoutMs": 1000])
    _ = try await host.wire.response("g")
    try await host.call("r", "page.setResult", ["page": "p2", "result": ["data": Self.address]])
    _ = try await host.wire.response("r")
    try await settle(first)

    let second = try await startServer()
    #expect(try await host.resume(after: 6, at: second)["restarted"] == true)
    for verdict in [false, true] {
      try await host.call("b", "navigation.back", [:])
      let question = try await host.wire.nextRequest("page.leave")
      #expect(question["params"]?["to"]?["page"] == "p1")
      try await host.respond(question, ["allow": .bool(verdict)])
      if !verdict { #expect(try await host.wire.response("b")["error"]?["code"] == 2423) }
    }
    #expect(try await host.wire.response("a")["result"]?["data"] == Self.address)
  }

  @Test func gatesSurviveRestart() async throws {
    let first = try await startServer()
    let host = try await SequencedClient(first, Self.pageHosts)
    try await host.call(
      "s", "session.setGate", ["gate": "conformance.second", "open": true])
    _ = try await host.wire.response("s")
    try await host.call(
      "k", "router.invoke", ["uri": "conformance://gated/twice", "key": "once"])
    try await host.respond(try await host.wire.nextRequest("page.open"), .null)
    try await settle(first)

    let second = try await startServer()
    #expect(try await host.resume(after: 2, at: second)["restarted"] == true)
    // The page of the gate is still shown. The call with a key waits again, and another one too.
    try await host.call("n", "router.invoke", ["uri": "conformance://gated"])
    try await host.call("f", "navigation.finish", ["page": "p1"])
    #expect(try await host.wire.response("k")["result"] == [:])
    #expect(try await host.wire.response("n")["result"] == [:])
    try await settle(second)

    let third = try await startServer()
    #expect(try await host.resume(after: 6, at: third)["restarted"] == true)
    try await host.call("g", "session.gates", [:])
    let gates = try await host.wire.response("g")["result"]?["gates"]?.array
    #expect(gates?.map { $0["open"] } == [true, true])
  }

  @Test func openPageKeepsItsURIAndNewParametersAcrossRestart() async throws {
    let first = try await startServer()
    let host = try await SequencedClient(first, Self.pageHosts)
    let opener = try await SequencedClient(first, joining: host.openResult)
    try await opener.call("a", "router.open", ["uri": "mini://news/today"])
    try await host.respond(try await host.wire.nextRequest("page.open"), .null)
    _ = try await opener.wire.nextRequest("$/progress")
    try await opener.call(
      "b", "router.open", ["uri": "native://upgrade?uri=x", "style": "popTo"])
    let resumed = try await host.wire.nextRequest("page.resume")
    let params: Value = ["page": "p1", "uri": "native://upgrade?uri=x", "params": ["uri": "x"]]
    #expect(resumed["params"] == params)
    _ = try await opener.wire.nextRequest("$/progress")
    try await settle(first)

    let second = try await startServer()
    #expect(try await host.resume(after: 2, at: second)["restarted"] == true)
    try await host.call("c", "navigation.contains", ["uri": "mini://news/today"])
    let found = try await host.wire.response("c")["result"]
    #expect(found?["id"] == "p1" && found?["params"] == ["uri": "x"])
    try await host.call("s", "page.sync", ["pages": []])
    let open = try await host.wire.response("s")["result"]?["open"]?.array
    #expect(open?.map { $0["page"]?["params"] } == [["uri": "x"]])
    #expect(try await opener.resume(after: 2, at: second)["pending"]?.array?.count == 2)
    try await host.call("f", "navigation.finish", ["page": "p1", "result": ["data": 1]])
    #expect(try await opener.wire.response("a")["result"]?["data"] == 1)
    #expect(try await opener.wire.response("b")["result"]?["data"] == 1)
  }

  /// After a restart, a client may have received more than is stored. The numbers go on from there.
  @Test func receivedNumberLeavesNumbersForLaterMessages() async throws {
    let first = try await startServer()
    let client = try await SequencedClient(first)
    try await client.call(1, "router.invoke", ["uri": "action://echo", "key": "k"])
    _ = try await client.wire.response(1)
    try await settle(first)

    let second = try await startServer()
    let last: Int64 = 1 << 53 - 1
    #expect(try await client.resume(after: last + 1, at: second)["code"] == -32602)
    #expect(try await client.resume(after: .max, at: second)["code"] == -32602)
    #expect(try await client.resume(after: last, at: second)["resumed"] == true)
    try await client.call(2, "router.invoke", ["uri": "action://echo", "key": "l"])
    _ = try await client.wire.response(2)
    try await settle(second)

    let third = try await startServer()
    #expect(try await client.resume(after: last + 1, at: third)["code"] == -32602)
    #expect(try await client.resume(after: last, at: third)["resumed"] == true)
  }

  @Test func revokedClientIsNotRestored() async throws {
    let first = try await startServer()
    let shell = try await SequencedClient(first)
    let member = try await SequencedClient(first, joining: shell.openResult)
    let session = try #require(await shell.openResult["session"]?.string)
    let client = try #require(await member.openResult["client"]?.string)
    try await settle(first)
    // The server ends as soon as it has responded.
    async let removed = first.sessionServer.dispatch.revoke(
      SessionRevocation(session: session, client: client), by: nil)
    #expect(try await removed == [client])

    let second = try await startServer()
    #expect(try await shell.resume(after: 0, at: second)["resumed"] == true)
    // The client gets a session of its own.
    let opened = try await member.resume(after: 0, at: second)
    #expect(opened["resumed"] != true && opened["session"]?.string != session)
    let ended = try await second.sessionServer.dispatch.revoke(
      SessionRevocation(session: session), by: nil)
    #expect(ended.count == 1)
    let third = try await startServer()
    #expect(third.sessionServer.loopSessions(ofSession: session) == nil)
  }

  @Test func removesSessionThatEndsDuringWrite() async throws {
    let bridge = try await startServer()
    let client = try await SequencedClient(bridge)
    try await settle(bridge)
    #expect(await store.sessions.count == 1)
    await store.pause()
    try await client.call("k", "router.invoke", ["uri": "action://echo", "key": "k"])
    await store.waitForPendingAppend()
    // The store is still saving the previous change.
    try await client.disconnect()
    try await bridge.server.advance(by: .seconds(120))
    await store.resume()
    try await settle(bridge)
    #expect(await store.sessions.isEmpty)
  }

  @Test func restoredClientIsDisconnectedSinceServerStart() async throws {
    let first = try await startServer()
    let client = try await SequencedClient(first)
    try await settle(first)
    let second = try await startServer()
    try await second.server.advance(by: .seconds(2))
    let session = try #require(await client.openResult["session"]?.string)
    let detail = await second.loopSessions.detail(session, withRecords: false)
    #expect(detail?["clients"]?.array?.first?["away"] == 2000)
  }

  @Test func resultOfKeyedTaskIsCheckedAfterRestart() async throws {
    let first = try await startServer()
    let host = try await SequencedClient(
      first, ["hosts": [["patterns": ["action://location"], "kind": "task"]]])
    let caller = try await SequencedClient(first, joining: host.openResult)
    try await caller.call("keyed", "router.invoke", ["uri": "action://location", "key": "k"])
    let run = try await host.wire.nextRequest("task.run")
    try await settle(first)

    let second = try await startServer()
    #expect(try await caller.resume(after: 0, at: second)["resumed"] == true)
    #expect(try await host.resume(after: 1, at: second)["resumed"] == true)
    try await host.respond(run, "here")
    let error = try await caller.wire.response("keyed")["error"]
    #expect(error?["data"]?["kind"] == "invalidResult")
    try await settle(second)

    // The stored result is the error.
    let third = try await startServer()
    #expect(try await caller.resume(after: 1, at: third)["resumed"] == true)
    try await caller.call("again", "router.invoke", ["uri": "action://location", "key": "k"])
    #expect(try await caller.wire.response("again")["error"] == error)
  }

  @Test func resultOfKeyedPageMethodIsCheckedAfterRestart() async throws {
    let first = try await startServer()
    let host = try await SequencedClient(
      first, ["hosts": [["scheme": "flutter", "kind": "page"]]])
    let caller = try await SequencedClient(first, joining: host.openResult)
    try await caller.call("a", "router.open", ["uri": "flutter://counter"])
    try await host.respond(try await host.wire.nextRequest("page.open"), .null)
    _ = try await caller.wire.nextRequest("$/progress")
    try await caller.call("keyed", "page.call", ["page": "p1", "method": "add", "key": "k"])
    let run = try await host.wire.nextRequest("page.call")
    #expect(run["params"]?["params"] == ["by": 1])
    try await settle(first)

    let second = try await startServer()
    #expect(try await caller.resume(after: 1, at: second)["resumed"] == true)
    #expect(try await host.resume(after: 2, at: second)["resumed"] == true)
    try await host.respond(run, "two")
    let error = try await caller.wire.response("keyed")["error"]
    #expect(error?["data"]?["kind"] == "invalidResult")
  }

  @Test func repeatsOnlyIdempotentCallsAfterRestart() async throws {
    let first = try await startServer()
    let host = try await SequencedClient(
      first, ["hosts": [["patterns": ["action://toast"], "kind": "task"]]])
    let caller = try await SequencedClient(first, joining: host.openResult)
    try await caller.call("plain", "router.invoke", ["uri": "action://toast"])
    _ = try await host.wire.nextRequest("task.run")
    try await caller.call("keyed", "router.invoke", ["uri": "action://toast", "key": "k"])
    let run = try await host.wire.nextRequest("task.run")
    try await settle(first)

    let second = try await startServer()
    #expect(try await caller.resume(after: 0, at: second)["resumed"] == true)
    #expect(try await caller.wire.response("plain")["error"]?["code"] == 2599)
    #expect(try await host.resume(after: 2, at: second)["resumed"] == true)
    // The response to the first server's request counts.
    try await host.respond(run, "done")
    #expect(try await caller.wire.response("keyed")["result"] == "done")
    let totals = await second.sessionServer.totals()
    #expect(totals.pendingRequests == 0)
    #expect(totals.callsInFlight == 0)
  }

  /// Returns a client whose idempotent call has a stored result on a server that has ended, and the
  /// params to repeat the call.
  private func openCallerWithStoredResult(_ runs: TaskRunCounter) async throws -> (
    SequencedClient, params: Value
  ) {
    let first = try await startServer(Self.makeCountingRouter(runs))
    let caller = try await SequencedClient(first)
    let params: Value = ["uri": "action://count", "key": "k"]
    try await caller.call(1, "router.invoke", params)
    _ = try await caller.wire.response(1)
    try await settle(first)
    return (caller, params)
  }

  @Test func deliversStoredResultWithoutRecomputing() async throws {
    let runs = TaskRunCounter()
    let (caller, params) = try await openCallerWithStoredResult(runs)

    let second = try await startServer(Self.makeCountingRouter(runs))
    // The client did not receive the response before the server ended.
    #expect(try await caller.resume(after: 0, at: second)["resumed"] == true)
    #expect(try await caller.wire.response(1)["result"] == 1)
    try await caller.call(2, "router.invoke", params)
    #expect(try await caller.wire.response(2)["result"] == 1)
    #expect(runs.count == 1)
  }

  @Test(arguments: [-60, 60])
  func keepsResultDespiteClockSkew(byMinutes minutes: Int) async throws {
    let runs = TaskRunCounter()
    let (caller, params) = try await openCallerWithStoredResult(runs)

    let second = try await startServer(
      Self.makeCountingRouter(runs), clockOffset: .seconds(60 * minutes))
    #expect(try await caller.resume(after: 1, at: second)["resumed"] == true)
    try await caller.call(2, "router.invoke", params)
    #expect(try await caller.wire.response(2)["result"] == 1)
    try await second.server.advance(by: .seconds(600))
    try await caller.call(3, "router.invoke", params)
    #expect(try await caller.wire.response(3)["result"] == 2)
  }

  /// A session stores a limited number of results. The next server also removes the one that is to
  /// be replaced.
  @Test func keepsMostRecentlyUsedResultsAfterRestart() async throws {
    let runs = TaskRunCounter()
    let first = try await startServer(Self.makeCountingRouter(runs))
    let caller = try await SequencedClient(first)
    func call(_ key: String) async throws -> Value? {
      try await caller.call(
        .string(key), "router.invoke", ["uri": "action://count", "key": .string(key)])
      return try await caller.wire.response(.string(key))["result"]
    }
    let count = Limits().maxKeys
    // The first keys in name order are the last ones called.
    for place in 0..<count { _ = try await call("k\(1000 - place)") }
    try await settle(first)

    let second = try await startServer(Self.makeCountingRouter(runs))
    #expect(try await caller.resume(after: Int64(count), at: second)["resumed"] == true)
    #expect(try await call("new") == .integer(Int64(count) + 1))
    #expect(try await call("k\(1001 - count)") == .integer(Int64(count)))
    #expect(try await call("k1000") == .integer(Int64(count) + 2))
  }

  /// Returns a router with a task that counts its runs.
  private static func makeCountingRouter(_ runs: TaskRunCounter) throws -> Router {
    let router = Router()
    try router.task("action://count") { _ in .integer(Int64(runs.increment())) }
    return router
  }

  @Test func sendsResponseOnlyAfterItsChangeIsStored() async throws {
    let bridge = try await startServer()
    let host = try await SequencedClient(bridge, Self.pageHosts)
    let caller = try await SequencedClient(bridge, joining: host.openResult)
    try await settle(bridge)
    await store.pause()
    // This response depends on no stored change.
    try await caller.call("echo", "router.invoke", ["uri": "action://echo"])
    _ = try await caller.wire.response("echo")
    try await caller.call("adopt", "navigation.adopt", ["uri": "native://address/list"])
    await store.waitForPendingAppend()
    // This response would overtake one that is not sent yet.
    try await caller.call("late", "router.invoke", ["uri": "action://echo"])
    await bridge.server.loop.settle()
    #expect(try await caller.wire.hasNoPendingMessages())
    await store.resume()
    #expect(try await caller.wire.nextResponseID() == "adopt")
    #expect(try await caller.wire.nextResponseID() == "late")
  }

  @Test func doesNotRepeatCallsOfLostServer() async throws {
    let runs = TaskRunCounter()
    let first = try await startServer(Self.makeCountingRouter(runs))
    let caller = try await SequencedClient(first)
    try await settle(first)
    await store.pause()
    for id in 1...3 as ClosedRange<Int64> {
      try await caller.call(.integer(id), "router.invoke", ["uri": "action://count"])
      _ = try await caller.wire.response(.integer(id))
    }
    #expect(runs.count == 3)

    // The store has none of the calls. The client has two of the responses.
    await store.fail(with: SessionStoreError.leaseLost(sessions: []))
    await store.resume()
    let second = try await startServer(Self.makeCountingRouter(runs))
    await store.fail(with: nil)
    let again = try await caller.resume(after: 2, at: second)
    #expect(again["resumed"] == true)
    #expect(again["received"] == 0)
    #expect(again["sent"] == 2)
    await caller.resetSequence(after: 0)
    for id in 1...3 as ClosedRange<Int64> {
      try await caller.call(.integer(id), "router.invoke", ["uri": "action://count"])
      #expect(try await caller.wire.response(.integer(id))["error"]?["code"] == 2599)
    }
    // Calls that change nothing run normally, and so do new calls.
    try await caller.call(4, "router.invoke", ["uri": "action://count"])
    let response = try await caller.wire.response(4)
    #expect(response["result"] == 4)
    #expect(response["seq"] == 6)
  }

  /// `resumesBetween`: whether the client resumes with the second server before it sends its
  /// messages again.
  @Test(arguments: [false, true])
  func doesNotRepeatCallsAfterCrashAndHandover(resumesBetween: Bool) async throws {
    let runs = TaskRunCounter()
    let first = try await startServer(Self.makeCountingRouter(runs))
    let caller = try await SequencedClient(first)
    try await settle(first)
    await store.pause()
    try await caller.call(1, "router.invoke", ["uri": "action://count"])
    _ = try await caller.wire.response(1)
    await store.fail(with: SessionStoreError.leaseLost(sessions: []))
    await store.resume()
    let second = try await startServer(Self.makeCountingRouter(runs))
    await store.fail(with: nil)
    if resumesBetween { #expect(try await caller.resume(after: 0, at: second)["received"] == 0) }
    try await handOver(second)
    let third = try await startServer(Self.makeCountingRouter(runs))
    #expect(try await caller.resume(after: 0, at: third)["received"] == 0)
    await caller.resetSequence(after: 0)
    try await caller.call(1, "router.invoke", ["uri": "action://count"])
    #expect(try await caller.wire.response(1)["error"]?["code"] == 2599)

    // A call that no server has accepted runs, however many handovers happened in between.
    try await handOver(third)
    try await handOver(try await startServer(Self.makeCountingRouter(runs)))
    let last = try await startServer(Self.makeCountingRouter(runs))
    await caller.resetSequence(after: 2)
    #expect(try await caller.resume(after: 1, at: last)["received"] == 1)
    await caller.resetSequence(after: 1)
    try await caller.call(2, "router.invoke", ["uri": "action://count"])
    #expect(try await caller.wire.response(2)["result"] == 2)
  }

  @Test func reportsUnknownOutcomeForLostResponse() async throws {
    let runs = TaskRunCounter()
    let first = try await startServer(Self.makeCountingRouter(runs))
    let caller = try await SequencedClient(first)
    for id in 1...3 as ClosedRange<Int64> {
      try await caller.call(.integer(id), "router.invoke", ["uri": "action://count"])
      _ = try await caller.wire.response(.integer(id))
    }
    // The store has the calls, but not their responses. The client has received one response.
    try await settle(first)
    let second = try await startServer(Self.makeCountingRouter(runs))
    #expect(try await caller.resume(after: 1, at: second)["received"] == 3)
    for id in 2...3 as ClosedRange<Int64> {
      let response = try await caller.wire.response(.integer(id))
      #expect(response["error"]?["code"] == 2599)
      #expect(response["seq"] == .integer(id))
    }
    #expect(runs.count == 3)
  }

  @Test func storesResponsesUnacknowledgedForLong() async throws {
    let first = try await startServer()
    let caller = try await SequencedClient(first)
    try await caller.call(1, "router.invoke", ["uri": "action://echo", "params": ["n": 1]])
    _ = try await caller.wire.response(1)
    // In between, the server stores the changes that the passage of time causes.
    for _ in 1...5 {
      try await first.server.advance(by: .seconds(1))
      try await settle(first)
    }
    let second = try await startServer()
    _ = try await caller.resume(after: 0, at: second)
    #expect(try await caller.wire.response(1)["result"]?["n"] == 1)
  }

  @Test func survivesTwoRestartsBeforeResume() async throws {
    let first = try await startServer()
    let host = try await SequencedClient(
      first, ["hosts": [["patterns": ["action://toast"], "kind": "task"]]])
    let caller = try await SequencedClient(first, joining: host.openResult)
    try await caller.call("plain", "router.invoke", ["uri": "action://toast"])
    _ = try await host.wire.nextRequest("task.run")
    try await caller.call("keyed", "router.invoke", ["uri": "action://toast", "key": "k"])
    let run = try await host.wire.nextRequest("task.run")
    try await settle(first)
    let second = try await startServer()
    try await settle(second)
    let third = try await startServer()
    // The client has accepted more of the first server's messages than the third knows of.
    #expect(try await caller.resume(after: 7, at: third)["sent"] == 7)
    let response = try await caller.wire.response("plain")
    #expect(response["error"]?["code"] == 2599)
    #expect(response["seq"] == 8)
    _ = try await host.resume(after: 2, at: third)
    try await host.respond(run, "done")
    #expect(try await caller.wire.response("keyed")["result"] == "done")
  }

  @Test func resumesWithoutSentSequence() async throws {
    let first = try await startServer()
    let caller = try await SequencedClient(first)
    try await settle(first)
    let second = try await startServer()
    let opened = await caller.openResult
    let wire = try await WireClient.connect(to: second, subprotocol: Handshake.sessionSubprotocol)
    try await wire.call(
      "again", "session.resume",
      [
        "client": opened["client"] ?? .null, "token": opened["token"] ?? .null,
        "epoch": opened["epoch"] ?? .null, "received": 0,
      ])
    let result = try await wire.response("again")["result"]
    #expect(result?["resumed"] == true)
    #expect(result?["restarted"] == true)
  }

  @Test func displacedServerClosesItsClientsAndServesOthers() async throws {
    let first = try await startServer()
    let caller = try await SequencedClient(first)
    try await settle(first)
    let second = try await startServer()
    // The server sends nothing that the other server does not know of. It may detect the loss of
    // its lease earlier.
    try? await caller.call("adopt", "navigation.adopt", ["uri": "native://address/list"])
    #expect(try await caller.wire.nextCloseCode() == 4200)
    let joiningClient = try await SequencedClient(first)
    try await joiningClient.call("adopt", "navigation.adopt", ["uri": "native://address/list"])
    #expect(try await joiningClient.wire.response("adopt")["error"] == nil)
    #expect(first.loopSessions.writer?.failure == nil)

    #expect(try await caller.resume(after: 0, at: second)["resumed"] == true)
    await caller.resetSequence(after: 0)
    try await caller.call("stack", "navigation.stack", [:])
    #expect(try await caller.wire.response("stack")["result"]?["pages"] == [])
    withExtendedLifetime((first, second)) {}
  }

  @Test func writesWholeSessionWhenStoreRequestsIt() async throws {
    /// A store that requests every session as a whole each time.
    actor WholeSessionStore: SessionStore {
      private(set) var changes: [SessionChange] = []

      func load(as owner: String) -> [StoredSession] { [] }
      func append(_ changes: [SessionChange]) -> Set<String> {
        self.changes += changes
        return Set(changes.map(\.session))
      }
      func close() {}
    }
    let store = WholeSessionStore()
    let bridge = try InMemoryBridge.conformance(store: store)
    try await bridge.sessionServer.dispatch.restore()
    let client = try await SequencedClient(bridge)
    for id in 1...2 as ClosedRange<Int64> {
      try await client.call(
        .integer(id), "navigation.adopt", ["uri": .string("native://address/list?n=\(id)")])
      #expect(try await client.wire.response(.integer(id))["error"] == nil)
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

  @Test func batchCompletesAfterRestart() async throws {
    let first = try await startServer()
    let host = try await SequencedClient(
      first, ["hosts": [["patterns": ["action://toast"], "kind": "task"]]])
    let caller = try await SequencedClient(first, joining: host.openResult)
    func call(_ id: Value, _ params: Value) -> ValueObject {
      ["id": id, "method": "router.invoke", "params": params]
    }
    try await caller.batch([
      call(1, ["uri": "action://echo", "params": ["n": 1]]), call(2, ["uri": "action://toast"]),
      call(3, ["uri": "action://toast", "key": "k"]),
    ])
    var runs: [Value] = []
    for _ in 1...2 { runs.append(try await host.wire.nextRequest("task.run")) }
    try await settle(first)

    let second = try await startServer()
    _ = try await host.resume(after: 2, at: second)
    _ = try await caller.resume(after: 0, at: second)
    let run = try #require(runs.first { $0["params"]?["key"] == "k" })
    try await host.respond(run, "done")
    var message = try await caller.wire.nextMessage()
    while message.array == nil { message = try await caller.wire.nextMessage() }
    #expect(
      message.array?.map { $0["result"] ?? $0["error"]?["code"] } == [["n": 1], 2599, "done"])
  }

  @Test func guestsAndInvitationsKeepRightsAfterRestart() async throws {
    let first = try await startServer()
    let shell = try await SequencedClient(first, Self.pageHosts)
    try await shell.call(
      "invite", "session.invite",
      ["routes": ["action://echo"], "topics": ["order.*"], "uses": 2, "expiresMs": 600_000])
    let invitation = try await shell.wire.response("invite")["result"]
    func guest(_ bridge: InMemoryBridge) async throws -> SequencedClient {
      try await SequencedClient(
        bridge,
        joining: [
          "session": invitation?["session"] ?? .null, "joinToken": invitation?["token"] ?? .null,
        ])
    }
    let one = try await guest(first)
    try await one.call(1, "router.invoke", ["uri": "action://echo"])
    _ = try await one.wire.response(1)
    try await settle(first)

    let second = try await startServer()
    #expect(try await shell.resume(after: 1, at: second)["resumed"] == true)
    #expect(try await one.resume(after: 1, at: second)["guest"] == true)
    try await one.call(2, "router.invoke", ["uri": "action://toast"])
    #expect(try await one.wire.response(2)["error"]?["data"]?["rule"] == "invitation")
    try await one.call(
      3, "events.publish", ["topic": "order.changed", "data": ["id": 1, "state": "paid"]])
    #expect(try await one.wire.response(3)["result"] == ["delivered": 0, "waiting": 0])
    try await one.call(4, "events.publish", ["topic": "user.changed", "data": ["name": nil]])
    #expect(try await one.wire.response(4)["error"]?["data"]?["rule"] == "invitation")
    let two = try await guest(second)
    #expect(await two.openResult["guest"] == true)
    // The invitation was for two guests.
    #expect(try await guest(second).openResult.isNull)
  }

  @Test func appPageFailsAfterRestart() async throws {
    func router() throws -> Router {
      let router = Router()
      try router.page("native://swift", PageHandler(open: { _, _ in }, close: { _, _, _ in }))
      return router
    }
    let first = try await startServer(router())
    let caller = try await SequencedClient(first)
    try await caller.call("a", "router.open", ["uri": "native://swift"])
    _ = try await caller.wire.nextRequest("$/progress")
    try await settle(first)
    let second = try await startServer(router())
    _ = try await caller.resume(after: 1, at: second)
    let outcome = try await caller.wire.response("a")["result"]
    #expect(outcome?["outcome"] == "failed")
    #expect(await second.sessionServer.totals().pages == 0)
  }

  @Test func opensPendingDeepLinkAfterRestart() async throws {
    let first = try await startServer()
    let caller = try await SequencedClient(first)
    try await caller.call(1, "router.deliver", ["uri": "native://address/linked"])
    _ = try await caller.wire.response(1)
    try await settle(first)
    let second = try await startServer()
    _ = try await caller.resume(after: 1, at: second)
    try await caller.call(2, "host.register", ["hosts": [["scheme": "native", "kind": "page"]]])
    let parent = try await caller.wire.nextRequest("page.open")
    #expect(parent["params"]?["page"]?["uri"] == "native://address/list")
    try await caller.respond(parent, .null)
    let request = try await caller.wire.nextRequest("page.open")
    #expect(request["params"]?["page"]?["uri"] == "native://address/linked")
  }

  @Test func keyOfFollowedLinkSurvivesRestart() async throws {
    let first = try await startServer()
    let host = try await SequencedClient(first, Self.pageHosts)
    let session = await host.openResult["session"]?.string ?? ""
    let link: Value = ["uri": "native://address/list", "key": "intent"]
    let pushed = DeepLink("native://orders", key: "intent")
    try await host.call(1, "router.deliver", link)
    #expect(try await host.wire.response(1)["result"] == .null)
    try await host.respond(try await host.wire.nextRequest("page.open"), .null)
    try await first.sessionServer.dispatch.deliver(pushed, to: .session(session))
    let last = try await host.wire.nextRequest("page.open")
    try await host.respond(last, .null)
    try await settle(first)
    let second = try await startServer()
    let resumed = try await host.resume(after: last["seq"]?.integer ?? 0, at: second)
    #expect(resumed["resumed"] == true)
    try await host.call(2, "router.deliver", link)
    #expect(try await host.wire.response(2)["result"] == .null)
    let receipt = try await second.sessionServer.dispatch.deliver(
      pushed, to: .session(session))
    #expect(receipt == DeliveryReceipt(delivered: 1))
    #expect(await second.sessionServer.totals().pages == 2)
    try await host.call("ping", "$/ping", [:])
    var message = try await host.wire.nextMessage()
    while message["id"] != "ping" {
      #expect(message["method"] != "page.open")
      message = try await host.wire.nextMessage()
    }
  }

  @Test func linkForAbsentHostSurvivesRestart() async throws {
    let first = try await startServer()
    let host = try await SequencedClient(first, Self.pageHosts)
    let session = await host.openResult["session"]?.string ?? ""
    try await host.call("ping", "$/ping", [:])
    _ = try await host.wire.response("ping")
    try await host.disconnect()
    let receipt = try await first.sessionServer.dispatch.deliver(
      DeepLink("native://address/list"), to: .session(session))
    #expect(receipt == DeliveryReceipt(waiting: 1))
    try await settle(first)
    let second = try await startServer()
    try await second.server.advance(by: .seconds(60))
    #expect(try await host.resume(after: 1, at: second)["resumed"] == true)
    let request = try await host.wire.nextRequest("page.open")
    #expect(request["params"]?["page"]?["uri"] == "native://address/list")
  }

  @Test func continuesWhileStoreFailsAndStoresLater() async throws {
    struct StoreFullError: Error {}
    let first = try await startServer()
    let host = try await SequencedClient(first, Self.pageHosts)
    await store.fail(with: StoreFullError())
    try await host.call("adopt", "navigation.adopt", ["uri": "native://address/list"])
    #expect(try await host.wire.response("adopt")["result"] != nil)
    #expect(first.loopSessions.writer?.failure?.contains("Full") == true)
    try await host.call("second", "navigation.adopt", ["uri": "native://address/edit"])
    _ = try await host.wire.response("second")
    await store.fail(with: nil)
    try await first.server.advance(by: .seconds(31))
    await first.loopSessions.writer?.flush()
    await first.server.loop.settle()
    #expect(first.loopSessions.writer?.failure == nil)

    let second = try await startServer()
    #expect(try await host.resume(after: 2, at: second)["resumed"] == true)
    #expect(await second.sessionServer.totals().pages == 2)
  }

  @Test func drainedServerLeavesSessionsToNextServer() async throws {
    let first = try await startServer()
    let host = try await SequencedClient(
      first, ["hosts": [["patterns": ["action://toast"], "kind": "task"]]])
    let caller = try await SequencedClient(first, joining: host.openResult)
    try await caller.call("plain", "router.invoke", ["uri": "action://toast"])
    try await caller.call("keyed", "router.invoke", ["uri": "action://toast", "key": "k"])
    var runs: [Value] = []
    for _ in 1...2 { runs.append(try await host.wire.nextRequest("task.run")) }
    await first.sessionServer.drain()
    #expect(try await caller.wire.response("plain")["error"]?["code"] == -32802)
    try await caller.disconnect()
    try await host.disconnect()
    await first.sessionServer.closeStore()

    let second = try await startServer()
    _ = try await host.resume(after: 2, at: second)
    try await host.respond(try #require(runs.first { $0["params"]?["key"] == "k" }), "done")
    _ = try await caller.resume(after: 1, at: second)
    #expect(try await caller.wire.response("keyed")["result"] == "done")
  }

  @Test func keepsUnreadableSessionAndRestoresOthers() async throws {
    let first = try await startServer()
    let (one, two) = (try await SequencedClient(first), try await SequencedClient(first))
    let broken = await one.openResult["session"]?.string ?? ""
    try await settle(first)
    let lease = try #require(await store.sessions.first { $0.id == broken }).lease
    try await store.append([
      SessionChange(
        session: broken, lease: lease, steps: [.put(part: "stack", bytes: Array("no".utf8))])
    ])
    let second = try await startServer()
    #expect(try await one.resume(after: 0, at: second)["reason"] == "unknown")
    #expect(try await two.resume(after: 0, at: second)["resumed"] == true)
    #expect(await store.sessions.contains { $0.id == broken })
  }

  @Test func removesRestoredSessionAfterResumeTimeout() async throws {
    let first = try await startServer()
    let caller = try await SequencedClient(first)
    try await caller.call(1, "router.invoke", ["uri": "action://echo"])
    try await settle(first)
    let second = try await startServer()
    #expect(await second.sessionServer.totals().sessions == 1)
    try await second.server.advance(by: .seconds(121))
    await second.loopSessions.writer?.flush()
    #expect(await second.sessionServer.totals().sessions == 0)
    #expect(await store.sessions.isEmpty)
    _ = caller
  }

  @Test func doesNotStoreClientsWithoutSequenceNumbers() async throws {
    let bridge = try await startServer()
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

/// Counts the runs of a task.
private final class TaskRunCounter: Sendable {
  private let storage = Atomic(0)
  var count: Int { storage.load(ordering: .relaxed) }
  func increment() -> Int { storage.add(1, ordering: .relaxed).newValue }
}
