import TestSupport
import Testing
import WayTransport
import Waybridge
import WaybridgeClient

/// What of a client outlives its server, where that keeps its sessions.
@Suite(.timeLimit(.minutes(1)))
struct ServerRestartTests {
  /// Tells what it is asked for, and shows what it does not refuse, as soon as it may.
  private final class Shell: PageHost {
    let calls = Mailbox<String>()
    let isOpen: @Sendable (BridgeClient.Page) async throws -> Void

    init(_ isOpen: @escaping @Sendable (BridgeClient.Page) async throws -> Void = { _ in }) {
      self.isOpen = isOpen
    }

    func open(_ page: BridgeClient.Page) async throws {
      calls.put("open \(page.uri)")
      try await isOpen(page)
    }

    func close(_ page: BridgeClient.Page, reason: Outcome.Kind, exts: ValueObject) async {
      calls.put("close \(page.uri) \(reason)")
    }
  }

  private func shell(_ shell: Shell) -> BridgeClient.SessionOptions {
    .init(name: "shell", version: "1", hosts: [.pages(scheme: "native", shell)])
  }

  /// Fails where the client has not resumed.
  private func expectResumed(
    _ states: BridgeClient.ConnectionStates, _ place: SourceLocation = #_sourceLocation
  ) async {
    for await state in states {
      switch state {
      case .open, .waiting: continue
      case .resumed: return
      case .begunAnew(let lost):
        Issue.record("the session is lost: \(lost.reason)", sourceLocation: place)
        return
      case .ended: break
      }
    }
    Issue.record("the client has ended", sourceLocation: place)
  }

  @Test func aPageStaysOpenAndItsResultArrives() async throws {
    let stage = try await DurableServerFixture()
    let shell = Shell()
    let host = try await stage.connect(self.shell(shell))
    let client = try await stage.join(host)
    let (hostStates, states) = (
      await host.connectionStates(), await client.connectionStates()
    )
    let opening = Task { try await client.open("native://a") }
    #expect(try await shell.calls.take() == "open native://a")
    await stage.keep()
    try await stage.restart()
    await expectResumed(hostStates)
    await expectResumed(states)
    try await client.finish(.init("seen"), page: try #require(try await client.stack().top?.id))
    #expect(try await opening.value.data == "seen")
    #expect(try await shell.calls.take() == "close native://a finished")
    await client.close()
    await host.close()
  }

  @Test func whatWasBeingDoneIsCancelledAndWhatHasAKeyIsDoneAgain() async throws {
    let stage = try await DurableServerFixture()
    let running = Mailbox<BridgeClient.TaskCall>()
    let answers = Mailbox<Value>()
    let cancelled = Mailbox<Value>()
    let host = try await stage.connect(
      .init(
        name: "host", version: "1",
        hosts: [
          .task("action://wait") { call in
            running.put(call)
            return try await withTaskCancellationHandler {
              try await answers.take()
            } onCancel: {
              cancelled.put(call.params["n"] ?? nil)
            }
          }
        ]))
    let client = try await stage.join(host)
    let plain = Task { try await client.invoke("action://wait", ["n": 1]) }
    _ = try await running.take()
    let keyed = Task { try await client.invoke("action://wait", ["n": 2], key: "k") }
    _ = try await running.take()
    await stage.keep()
    try await stage.restart()
    let error = await #expect(throws: CallError.self) { try await plain.value }
    #expect(error?.protocolCode == .outcomeUnknown)
    #expect(Set([try await cancelled.take(), try await cancelled.take()]) == [1, 2])
    #expect(try await running.take().params["n"] == 2)
    answers.put("done")
    #expect(try await keyed.value == "done")
    await client.close()
    await host.close()
  }

  @Test func whatWasNotSentIsDoneAndWhatWasSentIsNotDoneTwice() async throws {
    let counted = ValueRecorder<Int64>()
    let isRunning = Mailbox<Void>()
    let answers = Mailbox<Value>()
    let stage = try await DurableServerFixture { router in
      try router.task("action://count") { call in
        if let n = call.params["n"]?.integer { counted.add(n) }
        isRunning.put(())
        return call.params["n"] ?? .null
      }
      try router.task("action://hang") { call in
        counted.add(3)
        isRunning.put(())
        return try await answers.take()
      }
    }
    let client = try await stage.connect()
    let states = await client.connectionStates()
    #expect(try await client.invoke("action://count", ["n": 1]) == 1)
    await stage.keep()
    await stage.store.hold()
    try await client.notify("router.invoke", ["uri": "action://count", "params": ["n": 2]])
    let sent = Task { try await client.invoke("action://hang", ["n": 3]) }
    for _ in 1...3 { try await isRunning.take() }
    var waiting: [Task<Value, any Error>] = []
    // The store has heard of none of them.
    try await stage.restart(isSudden: true) {
      await stage.store.release()
      for n: Int64 in 4...5 {
        waiting.append(Task { try await client.invoke("action://count", ["n": .integer(n)]) })
      }
    }
    await expectResumed(states)
    let error = await #expect(throws: CallError.self) { try await sent.value }
    #expect(error?.protocolCode == .outcomeUnknown)
    #expect(try await waiting[0].value == 4)
    #expect(try await waiting[1].value == 5)
    #expect(counted.all.prefix(3) == [1, 2, 3])
    #expect(counted.all.dropFirst(3).sorted() == [4, 5])
    answers.put(nil)
    await client.close()
  }

  @Test func aPageThatIsNotOnTheStackIsClosed() async throws {
    let stage = try await DurableServerFixture()
    let shell = Shell()
    let host = try await stage.connect(self.shell(shell))
    let client = try await stage.join(host)
    await stage.keep()
    await stage.store.hold()
    let opening = Task { try await client.open("native://a") }
    #expect(try await shell.calls.take() == "open native://a")
    await stage.loop.settle()
    try await stage.restart(isSudden: true) { await stage.store.release() }
    #expect(try await shell.calls.take() == "close native://a failed")
    let error = await #expect(throws: CallError.self) { try await opening.value }
    #expect(error?.protocolCode == .outcomeUnknown)
    #expect(try await client.stack().pages.isEmpty)
    await client.close()
    await host.close()
  }

  @Test func aPageThatIsOpeningIsClosedWhenItIsThere() async throws {
    let stage = try await DurableServerFixture()
    let isThere = Mailbox<Void>()
    let shell = Shell { _ in try await isThere.take() }
    let host = try await stage.connect(self.shell(shell))
    let client = try await stage.join(host)
    let opening = Task { try await client.open("native://a") }
    #expect(try await shell.calls.take() == "open native://a")
    await stage.keep()
    try await stage.restart()
    isThere.put(())
    let error = await #expect(throws: CallError.self) { try await opening.value }
    #expect(error?.protocolCode == .outcomeUnknown)
    await host.close()
    // Whether the host has heard of its cancellation or not: nothing is left in sight.
    let calls = await shell.calls.next(within: .milliseconds(100))
    #expect(calls == nil || calls?.hasPrefix("close native://a") == true)
    await client.close()
  }

  @Test func aPageThatTheAppShowsByOtherMeansStays() async throws {
    let stage = try await DurableServerFixture()
    let shell = Shell()
    let host = try await stage.connect(self.shell(shell))
    let states = await host.connectionStates()
    let page = try await host.adopt("other://a")
    let own = try await host.adopt("native://b")
    await stage.keep()
    try await stage.restart()
    await expectResumed(states)
    await stage.loop.settle()
    #expect(try await host.stack().pages.map(\.id) == [page.id, own.id])
    try await host.back(2)
    #expect(try await shell.calls.take() == "close native://b dismissed")
    await host.close()
  }
}
