import TestSupport
import Testing
import Waybridge
import WaybridgeClient

@Suite(.timeLimit(.minutes(1)))
struct BridgeClientTests {
  /// A server whose task `action://wait` reports its start, waits to be cancelled, and reports the
  /// cancellation.
  private struct WaitingServer {
    let server: LiveServer
    let running = Mailbox<Void>()
    let cancelled = Mailbox<Void>()

    init() async throws {
      let router = Router()
      try router.task("action://wait") { [running, cancelled] _ in
        let (never, end) = AsyncStream.makeStream(of: Void.self)
        await withTaskCancellationHandler {
          running.put(())
          for await _ in never {}
        } onCancel: {
          end.finish()
        }
        cancelled.put(())
        throw CancellationError()
      }
      server = try await LiveServer(router: router)
    }

    func invokeWait(_ client: BridgeClient) -> Task<Value, any Error> {
      Task { try await client.request("router.invoke", ["uri": "action://wait"]) }
    }
  }

  private func callError(_ call: () async throws -> Value) async -> CallError? {
    await #expect(throws: CallError.self) { try await call() }
  }

  @Test func callReturnsTheTaskResult() async throws {
    let server = try await LiveServer()
    let client = try await BridgeClient.connect(to: server.url)
    let response = try await client.request(
      "router.invoke", ["uri": "action://echo?from=query", "params": ["n": 1]])
    #expect(response == ["from": "query", "n": 1])
    await client.close()
    await server.stop()
  }

  @Test func errorHasCodeAndMessage() async throws {
    let server = try await LiveServer()
    let client = try await BridgeClient.connect(to: server.url)
    let error = await callError { try await client.request("no.such.method") }
    #expect(error?.code == -32601)
    #expect(error?.message.contains("no.such.method") == true)
    await client.close()
    await server.stop()
  }

  @Test func pendingCallFailsWhenTheServerStops() async throws {
    let waiting = try await WaitingServer()
    let client = try await BridgeClient.connect(to: waiting.server.url)
    let call = waiting.invokeWait(client)
    try await waiting.running.receive()
    await waiting.server.stop()
    let error = await callError { try await call.value }
    #expect(error?.code == -32802)
    await client.close()
  }

  @Test func pendingCallFailsWhenTheClientCloses() async throws {
    let waiting = try await WaitingServer()
    let client = try await BridgeClient.connect(to: waiting.server.url)
    let call = waiting.invokeWait(client)
    try await waiting.running.receive()
    await client.close()
    #expect(await callError { try await call.value }?.code == 2599)
    try await waiting.cancelled.receive()
    await waiting.server.stop()
  }

  @Test func cancellingTheTaskCancelsTheCallOnTheServer() async throws {
    let waiting = try await WaitingServer()
    let client = try await BridgeClient.connect(to: waiting.server.url)
    let call = waiting.invokeWait(client)
    try await waiting.running.receive()
    call.cancel()
    try await waiting.cancelled.receive()
    #expect(await callError { try await call.value }?.code == -32800)
    #expect(try await client.request("$/ping") == nil)
    await client.close()
    await waiting.server.stop()
  }

  @Test func callAfterTheConnectionEndedIsNotSent() async throws {
    let server = try await LiveServer()
    let closed = try await BridgeClient.connect(to: server.url)
    let left = try await BridgeClient.connect(to: server.url)
    await closed.close()
    await closed.close()
    await server.stop()
    await left.close()
    for client in [closed, left] {
      let error = await callError { try await client.request("$/ping") }
      #expect(error?.code == 2503)
      #expect(error?.message.contains("not sent") == true)
    }
  }

  @Test func progressArrivesBeforeTheResultOfAHostedTask() async throws {
    let server = try await LiveServer()
    let count = BridgeClient.Host.task("action://count") { call in
      for number: Int64 in 1...3 { call.reportProgress(.integer(number)) }
      return "done"
    }
    let client = try await BridgeClient.connect(
      to: server.url, session: .init(name: "host", version: "1", hosts: [count]))
    let progress = Mailbox<Value>()
    #expect(try await client.invoke("action://count", onProgress: { progress.put($0) }) == "done")
    for number: Int64 in 1...3 { #expect(try await progress.receive() == .integer(number)) }
    await client.close()
    await server.stop()
  }

  @Test func concurrentClosesCloseOnce() async throws {
    let server = try await LiveServer()
    let client = try await BridgeClient.connect(to: server.url)
    await withTaskGroup { group in
      for _ in 0..<8 { group.addTask { await client.close() } }
    }
    await server.stop()
  }

  @Test func connectingToAStoppedServerFails() async throws {
    let server = try await LiveServer()
    let url = server.url
    await server.stop()
    await #expect(throws: (any Error).self) { try await BridgeClient.connect(to: url) }
  }
}
