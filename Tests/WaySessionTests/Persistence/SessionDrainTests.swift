import TestSupport
import Testing
import WayRouting
import WayValues

@testable import WaySession

/// Calls while the server drains.
@Suite(.timeLimit(.minutes(1)))
struct SessionDrainTests {
  /// Opens a host of tasks and pages, and a client that calls them.
  private func openHostAndCaller() async throws -> (
    InMemoryBridge, host: WireClient, caller: WireClient
  ) {
    let bridge = try InMemoryBridge.conformance()
    let hosts: Value = [
      ["scheme": "native", "kind": "page"], ["patterns": ["action://toast"], "kind": "task"],
    ]
    let (host, opened) = try await WireClient.open(bridge, ["hosts": hosts])
    let (caller, _) = try await WireClient.open(bridge, joining: opened)
    return (bridge, host, caller)
  }

  @Test func finishesRunningCallsAndRejectsNewOnes() async throws {
    let (bridge, host, caller) = try await openHostAndCaller()
    try await caller.call(1, "router.invoke", ["uri": "action://toast"])
    let run = try await host.nextRequest("task.run")
    async let drained: Void = bridge.sessionServer.drain(for: .seconds(30))
    for client in [host, caller] {
      let event = try await client.nextEvent()
      #expect(event["topic"] == "server.draining")
      #expect(event["data"]?["until"] == .integer(InMemoryBridge.startTime + 30_000))
    }
    #expect(bridge.sessionServer.isDraining)
    try await caller.call(2, "router.invoke", ["uri": "action://toast"])
    let rejected = try await caller.response(2)["error"]
    #expect(rejected?["code"] == 2503)
    #expect(rejected?["data"] == ["kind": "draining", "retryable": true])
    // Calls that finish at once get a response as usual.
    try await caller.call(3, "router.invoke", ["uri": "action://echo", "params": ["n": 1]])
    #expect(try await caller.response(3)["result"] == ["n": 1])
    let late = try await WireClient.open(bridge)
    #expect(late.opened == .null)
    try await host.respond(run, "shown")
    #expect(try await caller.response(1)["result"] == "shown")
    try await bridge.server.advance(by: .milliseconds(20))
    await drained
  }

  @Test func cancelsUnfinishedCallsAfterTimeout() async throws {
    let (bridge, host, caller) = try await openHostAndCaller()
    try await caller.call(1, "router.open", ["uri": "native://walk/a"])
    _ = try await host.nextRequest("page.open")
    try await caller.call(2, "router.open", ["uri": "native://walk/b"])
    async let drained: Void = bridge.sessionServer.drain(for: .seconds(3))
    _ = try await caller.nextEvent()
    for _ in 1...151 { try await bridge.server.advance(by: .milliseconds(20)) }
    await drained
    await bridge.sessionServer.drain()
    let error = try await caller.response(1)["error"]
    #expect(error?["code"] == -32802)
    #expect(error?["data"]?["retryable"] == false)
    let waiting = try await caller.response(2)["error"]
    #expect(waiting?["code"] == -32802)
    #expect(waiting?["data"]?["retryable"] == true)
  }
}
