import TestSupport
import Testing
import WayTransport
import Waybridge
import WaybridgeClient

/// The state of a client that survives the loss of its connection.
@Suite(.timeLimit(.minutes(1)))
struct ClientResumeTests {
  /// The task `action://wait`, which runs until the test supplies its result.
  private struct WaitingTask {
    let running = Mailbox<BridgeClient.TaskCall>()
    let responses = Mailbox<Value>()

    var host: BridgeClient.Host {
      .task("action://wait") { call in
        running.put(call)
        return try await responses.receive()
      }
    }
  }

  /// Returns the states that a reader receives, each as a word.
  private func stateNames(_ states: BridgeClient.ConnectionStates, until last: String) async
    -> [String]
  {
    var words: [String] = []
    for await state in states {
      switch state {
      case .open: words.append("open")
      case .waiting(_, let attempt, _): words.append("waiting \(attempt)")
      case .resumed: words.append("resumed")
      case .sessionReplaced(let lost): words.append("anew \(lost.reason)")
      case .ended(let end): words.append("ended \(end.code.map { "\($0)" } ?? "-")")
      }
      if words.last == last { break }
    }
    return words
  }

  @Test func callSurvivesALostConnection() async throws {
    let fixture = try await ResumeFixture()
    let waiting = WaitingTask()
    let (host, hostConnector) = try await fixture.connect(
      .init(name: "host", version: "1", hosts: [waiting.host]))
    let (client, connector) = try await fixture.join(host)
    let states = await client.connectionStates()
    let progress = ValueRecorder<Value>()
    let settled = ValueRecorder<Value>()
    let call = Task {
      let value = try await client.invoke("action://wait") { progress.add($0) }
      settled.add(value)
      return value
    }
    let running = try await waiting.running.receive()
    await connector.disconnect()
    await fixture.loop.advance(by: .seconds(1))
    running.reportProgress(1)
    await hostConnector.disconnect()
    await fixture.loop.advance(by: .seconds(1))
    running.reportProgress(2)
    connector.isReachable = false
    await connector.disconnect()
    waiting.responses.put("done")
    await fixture.loop.settle()
    #expect(settled.all.isEmpty)
    connector.isReachable = true
    await fixture.loop.advance(by: .seconds(1))
    #expect(try await call.value == "done")
    await fixture.loop.advance(by: .seconds(60))
    #expect(settled.all == ["done"])
    #expect(progress.all == [1, 2])
    #expect(
      await stateNames(states, until: "resumed") == ["open", "waiting 1", "resumed"])
    #expect(connector.connections == 3)
    #expect(hostConnector.connections == 2)
    await client.close()
    await host.close()
  }

  @Test func callsMadeWhileDisconnectedWait() async throws {
    let fixture = try await ResumeFixture()
    let (client, connector) = try await fixture.connect()
    connector.isReachable = false
    await connector.disconnect()
    let calls = (1...3).map { n in
      Task { try await client.invoke("action://count", ["n": .integer(Int64(n))]) }
    }
    for n: Int64 in 4...6 {
      try await client.notify(
        "router.invoke", ["uri": "action://count", "params": ["n": .integer(n)]])
    }
    let late = Task { try await client.invoke("action://count", ["n": 7], timeout: .seconds(3)) }
    await client.waitForPendingCalls(4)
    calls[1].cancel()
    let cancelled = await #expect(throws: CallError.self) { try await calls[1].value }
    #expect(cancelled?.protocolCode == .cancelled)
    await fixture.loop.advance(by: .seconds(4))
    let error = await #expect(throws: CallError.self) { try await late.value }
    #expect(error?.protocolCode == .deadline)
    #expect(fixture.counted.all.isEmpty)
    connector.isReachable = true
    await fixture.loop.advance(by: .seconds(30))
    #expect(try await calls[0].value == 1)
    #expect(try await calls[2].value == 3)
    #expect(Set(fixture.counted.all) == [1, 3, 4, 5, 6])
    #expect(fixture.counted.all.filter { $0 > 3 } == [4, 5, 6])
    #expect(fixture.counted.all.count == 5)
    await client.close()
  }

  @Test func checkConnectionReconnectsWithoutWaiting() async throws {
    let fixture = try await ResumeFixture()
    let (client, connector) = try await fixture.connect()
    let states = await client.connectionStates()
    // The server removes a client that has sent nothing after a short time.
    _ = try await client.invoke("action://count", ["n": 0])
    connector.isReachable = false
    await connector.disconnect()
    await fixture.loop.advance(by: .seconds(20))
    await fixture.loop.settle()
    let call = Task { try await client.invoke("action://count", ["n": 1]) }
    await client.waitForPendingCalls(1)
    connector.isReachable = true
    // No time passes: the next attempt is seconds away.
    await client.checkConnection()
    #expect(await stateNames(states, until: "resumed").last == "resumed")
    #expect(try await call.value == 1)
    // The check has no effect on a live connection.
    await client.checkConnection()
    await fixture.loop.advance(by: .seconds(10))
    #expect(connector.connections == 2)
    await client.close()
    await client.checkConnection()
    #expect(connector.connections == 2)
  }

  /// Two clients whose connections break repeatedly after a few frames each: one calls, the other
  /// runs the tasks.
  @Test(arguments: 1...8)
  func everyCallRunsOnceAndReturnsOnceDespiteDisconnects(seed: UInt64) async throws {
    var random = SeededRandom(seed: seed)
    func lives() -> [Int] {
      [40] + (0..<25).map { _ in Int.random(in: 0...24, using: &random) }
    }
    let fixture = try await ResumeFixture()
    let ran = ValueRecorder<Int64>()
    let host = BridgeClient.Host.task("action://hosted") { call in
      if let n = call.params["n"]?.integer { ran.add(n) }
      return call.params["n"] ?? .null
    }
    let (shell, shellLine) = try await fixture.connect(
      .init(name: "shell", version: "1", hosts: [host]), breakingAfter: lives())
    let (client, connector) = try await fixture.join(shell, breakingAfter: lives())
    let responses = ValueRecorder<Int64>()
    let done = Mailbox<Void>()
    let (workers, rounds) = (4, 20)
    for worker in 0..<workers {
      Task {
        for round in 0..<rounds {
          let n = Int64(worker * 1000 + round)
          let uri = round % 2 == 0 ? "action://count" : "action://hosted"
          do {
            let response = try await client.invoke(uri, ["n": .integer(n)])
            #expect(response == .integer(n), "seed \(seed)")
            responses.add(n)
          } catch {
            Issue.record("seed \(seed): \(n) failed: \(error)")
          }
        }
        done.put(())
      }
    }
    Task {
      for n: Int64 in 9000..<9040 {
        try await client.notify(
          "router.invoke", ["uri": "action://count", "params": ["n": .integer(n)]])
      }
      done.put(())
    }
    var left = workers + 1
    for _ in 0..<2000 where left > 0 {
      await fixture.loop.advance(by: .seconds(5))
      while left > 0, await done.next(within: .milliseconds(1)) != nil { left -= 1 }
    }
    await fixture.loop.advance(by: .seconds(60))
    #expect(left == 0, "seed \(seed): not all calls have ended")
    let expected = (0..<workers).flatMap { worker in
      (0..<rounds).map { Int64(worker * 1000 + $0) }
    }
    #expect(responses.all.sorted() == expected, "seed \(seed)")
    let executed = fixture.counted.all + ran.all
    #expect(executed.sorted() == expected + Array(9000..<9040), "seed \(seed)")
    for list in [fixture.counted.all, ran.all, responses.all] {
      for worker in [0, 1, 2, 3, 9] {
        let own = list.filter { Int($0) / 1000 == worker }
        #expect(own == own.sorted(), "seed \(seed): the order")
      }
    }
    print("seed \(seed): \(connector.connections) and \(shellLine.connections) connections")
    #expect(connector.connections > 2)
    await client.close()
    await shell.close()
  }

  @Test func opensANewSessionAfterTheOldOneExpired() async throws {
    let fixture = try await ResumeFixture()
    let waiting = WaitingTask()
    let shell = RecordingPageHost()
    let events = ValueRecorder<Value>()
    let (client, connector) = try await fixture.connect(
      .init(
        name: "test", version: "1", hosts: [.pages(scheme: "native", shell), waiting.host]))
    let session = try #require(await client.session)
    try await client.register([.task("action://late") { _ in "late" }])
    let reading = try await client.events(["page.*", "news"])
    Task { for try await event in reading { events.add(.string(event.topic)) } }
    let states = await client.connectionStates()
    let page = Task { try await client.open("native://a") { _ in } }
    #expect(try await shell.calls.receive() == "open native://a")
    let unkeyed = Task { try await client.invoke("action://wait", ["k": 0]) }
    let first = try await waiting.running.receive()
    let keyed = Task { try await client.invoke("action://wait", ["k": 1], key: "key") }
    _ = try await waiting.running.receive()
    connector.isReachable = false
    await connector.disconnect()
    await fixture.loop.advance(by: .seconds(125))
    let unsent = Task { try await client.invoke("action://count", ["n": 5]) }
    await client.waitForPendingCalls(4)
    connector.isReachable = true
    await fixture.loop.advance(by: .seconds(31))
    for lost in [Task { _ = try await page.value }, Task { _ = try await unkeyed.value }] {
      let error = await #expect(throws: CallError.self) { try await lost.value }
      #expect(error?.protocolCode == .outcomeUnknown)
      #expect(error?.isRetryable == false)
    }
    #expect(try await unsent.value == 5)
    #expect(fixture.counted.all == [5])
    #expect(try await shell.calls.receive() == "close native://a failed")
    // The call is sent again with its idempotency key, to the hosts that were registered again.
    let again = try await waiting.running.receive()
    #expect(again.params == ["k": 1])
    for _ in 0..<3 { waiting.responses.put("now") }
    #expect(try await keyed.value == "now")
    #expect(try await client.invoke("action://late") == "late")
    let now = try #require(await client.session)
    #expect(now.id != session.id)
    let opening = Task { try await client.open("native://b") }
    #expect(try await shell.calls.receive() == "open native://b")
    await fixture.loop.settle()
    #expect(events.all.suffix(2) == ["page.opened", "page.visibility"])
    for await state in states {
      guard case .sessionReplaced(let lost) = state else { continue }
      #expect(lost.reason == "unknown")
      #expect(lost.session.id == session.id)
      #expect(lost.calls.map(\.uri) == ["native://a", "action://wait"])
      #expect(lost.pages.map(\.uri) == ["native://a"])
      break
    }
    // A lost request can no longer get a response; a late one has no effect.
    first.reportProgress("late")
    await client.close()
    _ = try? await opening.value
  }

  @Test func disconnectedHostRespondsOnceAndIsNotCalledTwice() async throws {
    let fixture = try await ResumeFixture()
    let waiting = WaitingTask()
    let shell = RecordingPageHost()
    let (host, connector) = try await fixture.connect(
      .init(name: "host", version: "1", hosts: [.pages(scheme: "native", shell), waiting.host]))
    let (client, _) = try await fixture.join(host)
    let opening = Task { try await client.open("native://a") }
    #expect(try await shell.calls.receive() == "open native://a")
    let call = Task { try await client.invoke("action://wait") }
    _ = try await waiting.running.receive()
    connector.isReachable = false
    await connector.disconnect()
    await fixture.loop.settle()
    waiting.responses.put("done")
    let waitingCall = Task { try await client.invoke("action://wait") }
    await client.waitForPendingCalls(3)
    connector.isReachable = true
    await fixture.loop.advance(by: .seconds(1))
    #expect(try await call.value == "done")
    _ = try await waiting.running.receive()
    waiting.responses.put("too")
    #expect(try await waitingCall.value == "too")
    try await client.finish(.init("seen"), page: try #require(try await client.stack().top?.id))
    #expect(try await opening.value.data == "seen")
    #expect(try await shell.calls.receive() == "close native://a finished")
    await host.close()
    await client.close()
  }

  @Test func closingLeavesTheSessionAtOnce() async throws {
    let fixture = try await ResumeFixture()
    let (client, _) = try await fixture.connect()
    _ = try await client.invoke("action://count", ["n": 1])
    #expect(await fixture.sessionCount == 1)
    let states = await client.connectionStates()
    await client.close()
    await fixture.loop.settle()
    #expect(await fixture.sessionCount == 0)
    #expect(await stateNames(states, until: "") == ["open", "ended 1000"])
  }

  @Test func closingWhileDisconnectedEndsAtOnce() async throws {
    let fixture = try await ResumeFixture()
    let (client, connector) = try await fixture.connect()
    connector.isReachable = false
    await connector.disconnect()
    let unsent = Task { try await client.invoke("action://count", ["n": 1]) }
    await client.waitForPendingCalls(1)
    await client.close()
    #expect(await client.waitUntilEnded().code == nil)
    let error = await #expect(throws: CallError.self) { try await unsent.value }
    #expect(error?.protocolCode == .unavailable)
    #expect(error?.isRetryable == true)
    connector.isReachable = true
    await fixture.loop.advance(by: .seconds(60))
    #expect(connector.connections == 1)
  }

  @Test func endsWithTheConnectionWhenReconnectIsOff() async throws {
    let fixture = try await ResumeFixture()
    let (client, connector) = try await fixture.connect(
      .init(name: "test", version: "1", reconnect: .never))
    _ = try await client.invoke("action://count", ["n": 1])
    await connector.disconnect()
    #expect(await client.waitUntilEnded().code == nil)
    await fixture.loop.settle()
    // The server retains nothing for the client.
    #expect(await fixture.sessionCount == 0)
  }

  @Test func reportsTheEndWhenReconnectingTimesOut() async throws {
    let fixture = try await ResumeFixture()
    let (client, connector) = try await fixture.connect(
      .init(name: "test", version: "1", reconnect: .automatic(within: .seconds(20))))
    let states = await client.connectionStates()
    connector.isReachable = false
    await connector.disconnect()
    await fixture.loop.advance(by: .seconds(60))
    let names = await stateNames(states, until: "")
    #expect(names.first == "open")
    #expect(names.last == "ended -")
    #expect(names.count > 4)
  }
}

/// Shows the requested pages.
final class RecordingPageHost: PageHost {
  let calls = Mailbox<String>()

  func open(_ page: BridgeClient.HostedPage) async throws { calls.put("open \(page.uri)") }

  func close(_ page: BridgeClient.HostedPage, reason: Outcome.OutcomeKind, exts: ValueObject) async
  {
    calls.put("close \(page.uri) \(reason)")
  }
}
