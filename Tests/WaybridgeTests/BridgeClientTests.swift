import TestSupport
import Testing
import Waybridge
import WaybridgeClient

@Suite(.timeLimit(.minutes(1)))
struct BridgeClientTests {
  @Test func aCallIsAnsweredWithTheTasksValue() async throws {
    let server = try await LiveServer()
    let client = try await BridgeClient.connect(to: server.url)
    let answer = try await client.request(
      "router.invoke", ["uri": "action://echo?from=query", "params": ["n": 1]])
    #expect(answer == ["from": "query", "n": 1])
    await client.close()
    await server.stop()
  }

  @Test func anErrorCarriesItsCodeAndText() async throws {
    let server = try await LiveServer()
    let client = try await BridgeClient.connect(to: server.url)
    let error = await #expect(throws: CallError.self) {
      try await client.request("no.such.method")
    }
    #expect(error?.code == -32601)
    #expect(error?.message.contains("no.such.method") == true)
    await client.close()
    await server.stop()
  }

  @Test func aCallThatWaitsFailsWhenTheServerEnds() async throws {
    let server = try await LiveServer()
    let shell = try await BridgeClient.connect(to: server.url)
    _ = try await shell.request(
      "host.register", ["hosts": [["kind": "task", "patterns": ["action://silent"]]]])
    let started = Mailbox<Void>()
    let call = Task {
      started.put(())
      return try await shell.request("router.invoke", ["uri": "action://silent"])
    }
    try await started.take()
    await server.stop()
    await #expect(throws: CallError.self) { try await call.value }
    await shell.close()
  }

  @Test func connectingWhereNobodyListensFails() async throws {
    let server = try await LiveServer()
    let url = server.url
    await server.stop()
    await #expect(throws: (any Error).self) { try await BridgeClient.connect(to: url) }
  }
}
