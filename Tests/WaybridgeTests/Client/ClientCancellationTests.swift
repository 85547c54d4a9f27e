import TestSupport
import Testing
import WayTransport
import Waybridge

@testable import WaybridgeClient

/// Calls that are cancelled after they were sent.
@Suite(.timeLimit(.minutes(1)))
struct ClientCancellationTests {
  private let server = ScriptedServer()

  /// Makes a call. Returns its task and the request that the server has received.
  private func startCall(
    _ client: BridgeClient, key: String? = nil
  ) async throws -> (task: Task<Value, any Error>, request: Value) {
    let task = Task { try await client.invoke("action://a", key: key) }
    return (task, try await server.next())
  }

  /// Cancels the task of a call; returns when the client knows.
  private func cancel(_ task: Task<Value, any Error>, of client: BridgeClient) async {
    task.cancel()
    await client.waitForCancelledCall()
  }

  private func expectError(_ code: ErrorCode, of task: Task<Value, any Error>) async {
    let error = await #expect(throws: CallError.self) { try await task.value }
    #expect(error?.protocolCode == code)
  }

  @Test func settlesOneSecondAfterItsCancellationWithoutConnection() async throws {
    let client = try await server.openClient(canResume: true)
    let (task, request) = try await startCall(client)
    try await server.close(.noPong)
    let resumeRequest = try await server.next()
    await cancel(task, of: client)
    await server.loop.advance(by: .milliseconds(999))
    #expect(await client.pendingCallCount == 1)
    await server.loop.advance(by: .milliseconds(1))
    #expect(await client.pendingCallCount == 0)
    await expectError(.cancelled, of: task)
    // The server gets the cancellation as soon as it can be reached.
    let pending: [Value] = [["id": request["id"] ?? nil, "method": "router.invoke"]]
    try await server.respond(
      resumeRequest,
      [
        "resumed": true, "received": 1, "sent": 0, "session": "s", "client": "c", "token": "t",
        "epoch": "e", "capabilities": ["resume"], "pending": .array(pending),
      ])
    #expect(
      try await server.next()
        == [
          "jsonrpc": "2.0", "seq": 2, "method": "$/cancelRequest",
          "params": ["id": request["id"] ?? nil],
        ])
    await client.close()
  }

  @Test(arguments: [true, false])
  func settlesIfNothingArrivesOverItsConnection(canResume: Bool) async throws {
    let client = try await server.openClient(canResume: canResume)
    let (task, _) = try await startCall(client)
    await cancel(task, of: client)
    #expect(try await server.next()["method"] == "$/cancelRequest")
    await server.loop.advance(by: .milliseconds(500))
    #expect(try await server.next()["method"] == "$/ping")
    await server.loop.advance(by: .milliseconds(499))
    #expect(await client.pendingCallCount == 1)
    await server.loop.advance(by: .milliseconds(1))
    #expect(await client.pendingCallCount == 0)
    await expectError(.cancelled, of: task)
    await client.close()
  }

  @Test func waitsForItsResponseWhileTheServerResponds() async throws {
    let client = try await server.openClient()
    let (task, request) = try await startCall(client)
    await cancel(task, of: client)
    #expect(try await server.next()["method"] == "$/cancelRequest")
    await server.loop.advance(by: .milliseconds(500))
    try await server.respond(try await server.next(), nil)
    await server.loop.advance(by: .seconds(10))
    #expect(await client.pendingCallCount == 1)
    try await server.respond(request, "done before")
    #expect(try await task.value == "done before")
    await client.close()
  }

  @Test func settlesOneSecondAfterItsConnectionIsLost() async throws {
    let client = try await server.openClient(canResume: true)
    let (task, _) = try await startCall(client)
    await cancel(task, of: client)
    #expect(try await server.next()["method"] == "$/cancelRequest")
    await server.loop.advance(by: .milliseconds(500))
    try await server.respond(try await server.next(), nil)
    await server.loop.advance(by: .seconds(5))
    try await server.close(.noPong)
    #expect(try await server.next()["method"] == "session.resume")
    await server.loop.advance(by: .milliseconds(999))
    #expect(await client.pendingCallCount == 1)
    await server.loop.advance(by: .milliseconds(1))
    #expect(await client.pendingCallCount == 0)
    await expectError(.cancelled, of: task)
    await client.close()
  }

  @Test func shownPageHasTheOutcomeCancelled() async throws {
    let client = try await server.openClient()
    let shown = Mailbox<String>()
    let task = Task { try await client.open("native://a") { shown.put($0) } }
    let request = try await server.next()
    try await server.send([
      "jsonrpc": "2.0", "method": "$/progress",
      "params": ["id": request["id"] ?? nil, "value": ["opened": ["page": "p1"]]],
    ])
    #expect(try await shown.receive() == "p1")
    task.cancel()
    await client.waitForCancelledCall()
    await server.loop.advance(by: .seconds(1))
    #expect(try await task.value == .cancelled())
    await client.close()
  }

  @Test func cancelledCallWithAKeyIsNotRepeatedInANewSession() async throws {
    let client = try await server.openClient(canResume: true)
    let (task, _) = try await startCall(client, key: "k")
    try await server.close(.noPong)
    let resumeRequest = try await server.next()
    await cancel(task, of: client)
    try await server.respond(
      resumeRequest,
      [
        "resumed": false, "reason": "unknown", "session": "s2", "client": "c2", "token": "t",
        "capabilities": ["resume"],
      ])
    await expectError(.outcomeUnknown, of: task)
    try await client.notify("next")
    #expect(try await server.next()["method"] == "next")
    await client.close()
  }

  @Test func cancelledPingSettlesAtOnce() async throws {
    let client = try await server.openClient()
    let task = Task { try await client.request("$/ping") }
    #expect(try await server.next()["method"] == "$/ping")
    task.cancel()
    await expectError(.cancelled, of: task)
    await client.close()
  }
}

extension BridgeClient {
  fileprivate var pendingCallCount: Int { pendingCalls.count }

  /// Waits until a call that was sent is cancelled.
  fileprivate func waitForCancelledCall() async {
    while pendingCalls.all(where: { $1.isCancelled && $1.isSent }).isEmpty { await Task.yield() }
  }
}
