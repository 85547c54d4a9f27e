import TestSupport
import Testing
import WaySockets
import Waybridge

@testable import WaybridgeClient

/// Resuming over sockets.
@Suite(.timeLimit(.minutes(1)))
struct SocketResumeTests {
  @Test func callSurvivesALostSocket() async throws {
    let router = Router()
    let running = Mailbox<Void>()
    let responses = Mailbox<Value>()
    try router.task("action://answered") { _ async throws in
      running.put(())
      return try await responses.receive()
    }
    let server = try await LiveServer(router: router)
    let loop = try SocketLoop.start()
    let connector = FlakyConnector(
      SocketConnector(url: server.url, subprotocol: "waybridge.v1", loop: loop), on: loop)
    let client = BridgeClient(loop: loop, connector: connector) { await loop.shutdown() }
    try await client.open(.init(name: "test", version: "1"))
    var states = await client.connectionStates().makeAsyncIterator()
    let call = Task { try await client.invoke("action://answered") }
    try await running.receive()
    await connector.disconnect(4999)
    while let state = await states.next() {
      if case .resumed = state { break }
    }
    responses.put("done")
    #expect(try await call.value == "done")
    #expect(connector.connections == 2)
    await client.close()
    await server.stop()
  }

  @Test func reconnectingEndsAfterTheAllowedAttempts() async throws {
    let server = try await LiveServer()
    let client = try await BridgeClient.connect(
      to: server.url,
      session: .init(name: "test", version: "1", reconnect: .automatic(attempts: 2)))
    let states = await client.connectionStates()
    await server.stop()
    #expect(await client.waitUntilEnded().code == 4200)
    var attempts: [Int] = []
    for await state in states {
      if case .waiting(_, let attempt, _) = state { attempts.append(attempt) }
    }
    #expect(attempts == [1, 2])
  }
}
