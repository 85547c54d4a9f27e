import TestSupport
import Testing
import WayTransport
import Waybridge
import WaybridgeClient

/// What of a client outlives its connection.
@Suite(.timeLimit(.minutes(1)))
struct ClientResumeTests {
  /// Runs `action://wait` until the test says what it gives.
  private struct Waiting {
    let running = Mailbox<BridgeClient.TaskCall>()
    let answers = Mailbox<Value>()

    var host: BridgeClient.Host {
      .task("action://wait") { call in
        running.put(call)
        return try await answers.take()
      }
    }
  }

  /// The states that a reader is told, each in a word.
  private func words(_ states: BridgeClient.ConnectionStates, until last: String) async -> [String]
  {
    var words: [String] = []
    for await state in states {
      switch state {
      case .open: words.append("open")
      case .waiting(_, let attempt, _): words.append("waiting \(attempt)")
      case .resumed: words.append("resumed")
      case .begunAnew(let lost): words.append("anew \(lost.reason)")
      case .ended(let end): words.append("ended \(end.code.map { "\($0)" } ?? "-")")
      }
      if words.last == last { break }
    }
    return words
  }

  @Test func aCallSurvivesACutConnection() async throws {
    let stage = try await ResumeFixture()
    let waiting = Waiting()
    let (host, hostLine) = try await stage.connect(
      .init(name: "host", version: "1", hosts: [waiting.host]))
    let (client, line) = try await stage.join(host)
    let states = await client.connectionStates()
    let progress = ValueRecorder<Value>()
    let settled = ValueRecorder<Value>()
    let call = Task {
      let value = try await client.invoke("action://wait") { progress.add($0) }
      settled.add(value)
      return value
    }
    let running = try await waiting.running.take()
    await line.cut()
    await stage.loop.settle()
    running.progress(1)
    await hostLine.cut()
    await stage.loop.settle()
    running.progress(2)
    line.isReachable = false
    await line.cut()
    waiting.answers.put("done")
    await stage.loop.settle()
    #expect(settled.all.isEmpty)
    line.isReachable = true
    await stage.loop.advance(by: .seconds(1))
    #expect(try await call.value == "done")
    await stage.loop.advance(by: .seconds(60))
    #expect(settled.all == ["done"])
    #expect(progress.all == [1, 2])
    #expect(
      await words(states, until: "resumed") == ["open", "waiting 1", "resumed"])
    #expect(line.connections == 3)
    #expect(hostLine.connections == 2)
    await client.close()
    await host.close()
  }

  @Test func callsThatAreMadeMeanwhileWait() async throws {
    let stage = try await ResumeFixture()
    let (client, line) = try await stage.connect()
    line.isReachable = false
    await line.cut()
    let calls = (1...3).map { n in
      Task { try await client.invoke("action://count", ["n": .integer(Int64(n))]) }
    }
    for n: Int64 in 4...6 {
      try await client.notify(
        "router.invoke", ["uri": "action://count", "params": ["n": .integer(n)]])
    }
    let late = Task { try await client.invoke("action://count", ["n": 7], deadline: .seconds(3)) }
    await stage.loop.settle()
    calls[1].cancel()
    let cancelled = await #expect(throws: CallError.self) { try await calls[1].value }
    #expect(cancelled?.protocolCode == .cancelled)
    await stage.loop.advance(by: .seconds(4))
    let error = await #expect(throws: CallError.self) { try await late.value }
    #expect(error?.protocolCode == .deadline)
    #expect(stage.counted.all.isEmpty)
    line.isReachable = true
    await stage.loop.advance(by: .seconds(30))
    #expect(try await calls[0].value == 1)
    #expect(try await calls[2].value == 3)
    #expect(Set(stage.counted.all) == [1, 3, 4, 5, 6])
    #expect(stage.counted.all.filter { $0 > 3 } == [4, 5, 6])
    #expect(stage.counted.all.count == 5)
    await client.close()
  }

  @Test func whoHearsThatTheNetworkIsBackDoesNotWait() async throws {
    let stage = try await ResumeFixture()
    let (client, line) = try await stage.connect()
    let states = await client.connectionStates()
    // A client that has sent nothing is not kept for long.
    _ = try await client.invoke("action://count", ["n": 0])
    line.isReachable = false
    await line.cut()
    await stage.loop.advance(by: .seconds(20))
    await stage.loop.settle()
    let call = Task { try await client.invoke("action://count", ["n": 1]) }
    await stage.loop.settle()
    line.isReachable = true
    // No time passes: the next attempt is seconds away.
    await client.checkConnection()
    #expect(await words(states, until: "resumed").last == "resumed")
    #expect(try await call.value == 1)
    // Of a connection that is alive nothing is noticed.
    await client.checkConnection()
    await stage.loop.advance(by: .seconds(10))
    #expect(line.connections == 2)
    await client.close()
    await client.checkConnection()
    #expect(line.connections == 2)
  }

  /// Two clients whose connections break after a few frames each, over and over: one calls, the
  /// other runs.
  @Test(arguments: 1...8)
  func eachCallIsCarriedOutOnceAndAnsweredOnceWhateverBreaks(seed: UInt64) async throws {
    var random = SeededRandom(seed: seed)
    func lives() -> [Int] {
      [40] + (0..<25).map { _ in Int.random(in: 0...24, using: &random) }
    }
    let stage = try await ResumeFixture()
    let ran = ValueRecorder<Int64>()
    let host = BridgeClient.Host.task("action://hosted") { call in
      if let n = call.params["n"]?.integer { ran.add(n) }
      return call.params["n"] ?? .null
    }
    let (shell, shellLine) = try await stage.connect(
      .init(name: "shell", version: "1", hosts: [host]), breakingAfter: lives())
    let (client, line) = try await stage.join(shell, breakingAfter: lives())
    let answers = ValueRecorder<Int64>()
    let done = Mailbox<Void>()
    let (workers, rounds) = (4, 20)
    for worker in 0..<workers {
      Task {
        for round in 0..<rounds {
          let n = Int64(worker * 1000 + round)
          let uri = round % 2 == 0 ? "action://count" : "action://hosted"
          do {
            let answer = try await client.invoke(uri, ["n": .integer(n)])
            #expect(answer == .integer(n), "seed \(seed)")
            answers.add(n)
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
      await stage.loop.advance(by: .seconds(5))
      while left > 0, await done.next(within: .milliseconds(1)) != nil { left -= 1 }
    }
    await stage.loop.advance(by: .seconds(60))
    #expect(left == 0, "seed \(seed): not all calls have ended")
    let expected = (0..<workers).flatMap { worker in
      (0..<rounds).map { Int64(worker * 1000 + $0) }
    }
    #expect(answers.all.sorted() == expected, "seed \(seed)")
    let executed = stage.counted.all + ran.all
    #expect(executed.sorted() == expected + Array(9000..<9040), "seed \(seed)")
    for list in [stage.counted.all, ran.all, answers.all] {
      for worker in [0, 1, 2, 3, 9] {
        let own = list.filter { Int($0) / 1000 == worker }
        #expect(own == own.sorted(), "seed \(seed): the order")
      }
    }
    print("seed \(seed): \(line.connections) and \(shellLine.connections) connections")
    #expect(line.connections > 2)
    await client.close()
    await shell.close()
  }

  @Test func afterASessionIsGoneANewOneBegins() async throws {
    let stage = try await ResumeFixture()
    let waiting = Waiting()
    let shell = RecordingShell()
    let events = ValueRecorder<Value>()
    let (client, line) = try await stage.connect(
      .init(
        name: "test", version: "1", hosts: [.pages(scheme: "native", shell), waiting.host]))
    let session = try #require(await client.session)
    try await client.register([.task("action://late") { _ in "late" }])
    let reading = try await client.events(["page.*", "news"])
    Task { for try await event in reading { events.add(.string(event.topic)) } }
    let states = await client.connectionStates()
    let page = Task { try await client.open("native://a") { _ in } }
    #expect(try await shell.calls.take() == "open native://a")
    let unkeyed = Task { try await client.invoke("action://wait", ["k": 0]) }
    let first = try await waiting.running.take()
    let keyed = Task { try await client.invoke("action://wait", ["k": 1], key: "key") }
    _ = try await waiting.running.take()
    line.isReachable = false
    await line.cut()
    await stage.loop.advance(by: .seconds(125))
    let unsent = Task { try await client.invoke("action://count", ["n": 5]) }
    await stage.loop.settle()
    line.isReachable = true
    await stage.loop.advance(by: .seconds(31))
    for lost in [Task { _ = try await page.value }, Task { _ = try await unkeyed.value }] {
      let error = await #expect(throws: CallError.self) { try await lost.value }
      #expect(error?.protocolCode == .outcomeUnknown)
      #expect(error?.isRetryable == false)
    }
    #expect(try await unsent.value == 5)
    #expect(stage.counted.all == [5])
    #expect(try await shell.calls.take() == "close native://a failed")
    // Asked again under its key, of the hosts that were declared again.
    let again = try await waiting.running.take()
    #expect(again.params == ["k": 1])
    for _ in 0..<3 { waiting.answers.put("now") }
    #expect(try await keyed.value == "now")
    #expect(try await client.invoke("action://late") == "late")
    let now = try #require(await client.session)
    #expect(now.id != session.id)
    let opening = Task { try await client.open("native://b") }
    #expect(try await shell.calls.take() == "open native://b")
    await stage.loop.settle()
    #expect(events.all.last == "page.opened")
    for await state in states {
      guard case .begunAnew(let lost) = state else { continue }
      #expect(lost.reason == "unknown")
      #expect(lost.session.id == session.id)
      #expect(lost.calls.map(\.uri) == ["native://a", "action://wait"])
      #expect(lost.pages.map(\.uri) == ["native://a"])
      break
    }
    // What was lost cannot be answered any more, and disturbs nobody.
    first.progress("late")
    await client.close()
    _ = try? await opening.value
  }

  @Test func aHostThatWasCutAnswersOnceAndIsNotAskedTwice() async throws {
    let stage = try await ResumeFixture()
    let waiting = Waiting()
    let shell = RecordingShell()
    let (host, line) = try await stage.connect(
      .init(name: "host", version: "1", hosts: [.pages(scheme: "native", shell), waiting.host]))
    let (client, _) = try await stage.join(host)
    let opening = Task { try await client.open("native://a") }
    #expect(try await shell.calls.take() == "open native://a")
    let call = Task { try await client.invoke("action://wait") }
    _ = try await waiting.running.take()
    line.isReachable = false
    await line.cut()
    await stage.loop.settle()
    waiting.answers.put("done")
    let asked = Task { try await client.invoke("action://wait") }
    await stage.loop.settle()
    line.isReachable = true
    await stage.loop.advance(by: .seconds(1))
    #expect(try await call.value == "done")
    _ = try await waiting.running.take()
    waiting.answers.put("too")
    #expect(try await asked.value == "too")
    try await client.finish(.init("seen"), page: try #require(try await client.stack().top?.id))
    #expect(try await opening.value.data == "seen")
    #expect(try await shell.calls.take() == "close native://a finished")
    await host.close()
    await client.close()
  }

  @Test func whoClosesLeavesAtOnce() async throws {
    let stage = try await ResumeFixture()
    let (client, _) = try await stage.connect()
    _ = try await client.invoke("action://count", ["n": 1])
    #expect(await stage.sessions == 1)
    let states = await client.connectionStates()
    await client.close()
    await stage.loop.settle()
    #expect(await stage.sessions == 0)
    #expect(await words(states, until: "") == ["open", "ended 1000"])
  }

  @Test func whoClosesWhileItWaitsEndsAtOnce() async throws {
    let stage = try await ResumeFixture()
    let (client, line) = try await stage.connect()
    line.isReachable = false
    await line.cut()
    let unsent = Task { try await client.invoke("action://count", ["n": 1]) }
    await stage.loop.settle()
    await client.close()
    #expect(await client.ended().code == nil)
    let error = await #expect(throws: CallError.self) { try await unsent.value }
    #expect(error?.protocolCode == .unavailable)
    #expect(error?.isRetryable == true)
    line.isReachable = true
    await stage.loop.advance(by: .seconds(60))
    #expect(line.connections == 1)
  }

  @Test func whoShallNotConnectAgainEndsWithTheConnection() async throws {
    let stage = try await ResumeFixture()
    let (client, line) = try await stage.connect(
      .init(name: "test", version: "1", reconnect: .never))
    _ = try await client.invoke("action://count", ["n": 1])
    await line.cut()
    #expect(await client.ended().code == nil)
    await stage.loop.settle()
    // The server keeps nothing for it.
    #expect(await stage.sessions == 0)
  }

  @Test func whoGivesUpSaysSo() async throws {
    let stage = try await ResumeFixture()
    let (client, line) = try await stage.connect(
      .init(name: "test", version: "1", reconnect: .automatic(within: .seconds(20))))
    let states = await client.connectionStates()
    line.isReachable = false
    await line.cut()
    await stage.loop.advance(by: .seconds(60))
    let told = await words(states, until: "")
    #expect(told.first == "open")
    #expect(told.last == "ended -")
    #expect(told.count > 4)
  }
}

/// Shows what it is asked for.
final class RecordingShell: PageHost {
  let calls = Mailbox<String>()

  func open(_ page: BridgeClient.Page) async throws { calls.put("open \(page.uri)") }

  func close(_ page: BridgeClient.Page, reason: Outcome.Kind, exts: ValueObject) async {
    calls.put("close \(page.uri) \(reason)")
  }
}
