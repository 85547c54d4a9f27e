import TestSupport
import Testing
import WayTransport
import Waybridge
import WaybridgeClient

/// The state of a client that survives a restart of its server, if the server persists sessions.
@Suite(.timeLimit(.minutes(1)))
struct ServerRestartTests {
  /// Records its requests. It shows each page that `onOpen` does not reject, when `onOpen` returns.
  private final class HookedPageHost: PageHost {
    let calls = Mailbox<String>()
    let onOpen: @Sendable (BridgeClient.HostedPage) async throws -> Void

    init(_ isOpen: @escaping @Sendable (BridgeClient.HostedPage) async throws -> Void = { _ in }) {
      self.onOpen = isOpen
    }

    func open(_ page: BridgeClient.HostedPage) async throws {
      calls.put("open \(page.uri)")
      try await onOpen(page)
    }

    func close(_ page: BridgeClient.HostedPage, reason: Outcome.OutcomeKind, exts: ValueObject)
      async
    {
      calls.put("close \(page.uri) \(reason)")
    }
  }

  private func sessionOptions(_ shell: HookedPageHost) -> BridgeClient.SessionOptions {
    .init(name: "shell", version: "1", hosts: [.pages(scheme: "native", shell)])
  }

  /// Fails if the client has not resumed.
  private func expectResumed(
    _ states: BridgeClient.ConnectionStates, _ place: SourceLocation = #_sourceLocation
  ) async {
    for await state in states {
      switch state {
      case .open, .waiting: continue
      case .resumed: return
      case .sessionReplaced(let lost):
        Issue.record("the session is lost: \(lost.reason)", sourceLocation: place)
        return
      case .ended: break
      }
    }
    Issue.record("the client has ended", sourceLocation: place)
  }

  @Test func pageStaysOpenAndReturnsItsResult() async throws {
    let fixture = try await DurableServerFixture()
    let shell = HookedPageHost()
    let host = try await fixture.connect(self.sessionOptions(shell))
    let client = try await fixture.join(host)
    let (hostStates, states) = (
      await host.connectionStates(), await client.connectionStates()
    )
    let opening = Task { try await client.open("native://a") }
    #expect(try await shell.calls.receive() == "open native://a")
    await fixture.flushStore()
    try await fixture.restart()
    await expectResumed(hostStates)
    await expectResumed(states)
    try await client.finish(.init("seen"), page: try #require(try await client.stack().top?.id))
    #expect(try await opening.value.data == "seen")
    #expect(try await shell.calls.receive() == "close native://a finished")
    await client.close()
    await host.close()
  }

  @Test func runningTasksAreCancelledUnlessTheyHaveAKey() async throws {
    let fixture = try await DurableServerFixture()
    let running = Mailbox<BridgeClient.TaskCall>()
    let responses = [Mailbox<Value>(), Mailbox<Value>()]
    let cancelled = Mailbox<Value>()
    let host = try await fixture.connect(
      .init(
        name: "host", version: "1",
        hosts: [
          .task("action://wait") { call in
            running.put(call)
            return try await withTaskCancellationHandler {
              try await responses[call.key == nil ? 0 : 1].receive()
            } onCancel: {
              cancelled.put(call.params["n"] ?? nil)
            }
          }
        ]))
    let client = try await fixture.join(host)
    let plain = Task { try await client.invoke("action://wait", ["n": 1]) }
    _ = try await running.receive()
    let keyed = Task { try await client.invoke("action://wait", ["n": 2], key: "k") }
    _ = try await running.receive()
    await fixture.flushStore()
    try await fixture.restart()
    let error = await #expect(throws: CallError.self) { try await plain.value }
    #expect(error?.protocolCode == .outcomeUnknown)
    #expect(try await cancelled.receive() == 1)
    // The response of the host counts, which does not get the call again.
    responses[1].put("done")
    #expect(try await keyed.value == "done")
    #expect(await cancelled.next(within: .zero) == nil)
    #expect(await running.next(within: .zero) == nil)
    await client.close()
    await host.close()
  }

  @Test func unsentCallsRunAndSentCallsRunOnce() async throws {
    let counted = ValueRecorder<Int64>()
    let isRunning = Mailbox<Void>()
    let responses = Mailbox<Value>()
    let fixture = try await DurableServerFixture { router in
      try router.task("action://count") { call in
        if let n = call.params["n"]?.integer { counted.add(n) }
        isRunning.put(())
        return call.params["n"] ?? .null
      }
      try router.task("action://hang") { call in
        counted.add(3)
        isRunning.put(())
        return try await responses.receive()
      }
    }
    let client = try await fixture.connect()
    let states = await client.connectionStates()
    #expect(try await client.invoke("action://count", ["n": 1]) == 1)
    await fixture.flushStore()
    await fixture.store.pause()
    try await client.notify("router.invoke", ["uri": "action://count", "params": ["n": 2]])
    let sent = Task { try await client.invoke("action://hang", ["n": 3]) }
    for _ in 1...3 { try await isRunning.receive() }
    var waiting: [Task<Value, any Error>] = []
    // The store has none of the calls.
    try await fixture.restart(isSudden: true) {
      await fixture.store.resume()
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
    responses.put(nil)
    await client.close()
  }

  @Test func pageMissingFromTheStackIsClosed() async throws {
    let fixture = try await DurableServerFixture()
    let shell = HookedPageHost()
    let host = try await fixture.connect(self.sessionOptions(shell))
    let client = try await fixture.join(host)
    await fixture.flushStore()
    await fixture.store.pause()
    let opening = Task { try await client.open("native://a") }
    #expect(try await shell.calls.receive() == "open native://a")
    await fixture.loop.settle()
    try await fixture.restart(isSudden: true) { await fixture.store.resume() }
    #expect(try await shell.calls.receive() == "close native://a failed")
    let error = await #expect(throws: CallError.self) { try await opening.value }
    #expect(error?.protocolCode == .outcomeUnknown)
    #expect(try await client.stack().pages.isEmpty)
    await client.close()
    await host.close()
  }

  @Test func openingPageIsClosedOnceOpen() async throws {
    let fixture = try await DurableServerFixture()
    let isThere = Mailbox<Void>()
    let shell = HookedPageHost { _ in try await isThere.receive() }
    let host = try await fixture.connect(self.sessionOptions(shell))
    let client = try await fixture.join(host)
    let opening = Task { try await client.open("native://a") }
    #expect(try await shell.calls.receive() == "open native://a")
    await fixture.flushStore()
    try await fixture.restart()
    isThere.put(())
    let error = await #expect(throws: CallError.self) { try await opening.value }
    #expect(error?.protocolCode == .outcomeUnknown)
    await host.close()
    // Whether or not the host received the cancellation, no page remains visible.
    let calls = await shell.calls.next(within: .milliseconds(100))
    #expect(calls == nil || calls?.hasPrefix("close native://a") == true)
    await client.close()
  }

  @Test func adoptedPageStaysOnTheStack() async throws {
    let fixture = try await DurableServerFixture()
    let shell = HookedPageHost()
    let host = try await fixture.connect(self.sessionOptions(shell))
    let states = await host.connectionStates()
    let page = try await host.adopt("other://a")
    let own = try await host.adopt("native://b")
    await fixture.flushStore()
    try await fixture.restart()
    await expectResumed(states)
    await fixture.loop.settle()
    #expect(try await host.stack().pages.map(\.id) == [page.id, own.id])
    try await host.back(2)
    #expect(try await shell.calls.receive() == "close native://b dismissed")
    await host.close()
  }
}
