import TestSupport
import Testing
import WayRouting
import WayValues

@testable import WaySession

/// What becomes of calls when the server is about to end.
@Suite(.timeLimit(.minutes(1)))
struct DrainTests {
  /// A host of tasks and pages, and who calls them.
  private func scene() async throws -> (InMemoryBridge, host: WireClient, caller: WireClient) {
    let bridge = try InMemoryBridge.conformance()
    let hosts: Value = [
      ["scheme": "native", "kind": "page"], ["patterns": ["action://toast"], "kind": "task"],
    ]
    let (host, hello) = try await WireClient.open(bridge, ["hosts": hosts])
    let (caller, _) = try await WireClient.open(bridge, joining: hello)
    return (bridge, host, caller)
  }

  @Test func callsMayEndAndNoOthersBegin() async throws {
    let (bridge, host, caller) = try await scene()
    try await caller.call(1, "router.invoke", ["uri": "action://toast"])
    let run = try await host.request("task.run")
    async let drained: Void = bridge.hub.drain(for: .seconds(30))
    for client in [host, caller] {
      let event = try await client.event()
      #expect(event["topic"] == "server.draining")
      #expect(event["data"]?["until"] == .integer(InMemoryBridge.now + 30_000))
    }
    #expect(bridge.hub.isAboutToEnd)
    try await caller.call(2, "router.invoke", ["uri": "action://toast"])
    let refused = try await caller.answer(2)["error"]
    #expect(refused?["code"] == 2503)
    #expect(refused?["data"] == ["kind": "draining", "retryable": true])
    // What ends at once is answered as ever.
    try await caller.call(3, "router.invoke", ["uri": "action://echo", "params": ["n": 1]])
    #expect(try await caller.answer(3)["result"] == ["n": 1])
    let late = try await WireClient.open(bridge)
    #expect(late.hello == .null)
    try await host.reply(run, "shown")
    #expect(try await caller.answer(1)["result"] == "shown")
    try await bridge.server.advance(by: .milliseconds(20))
    await drained
  }

  @Test func whatHasNotEndedInTimeIsGivenUp() async throws {
    let (bridge, host, caller) = try await scene()
    try await caller.call(1, "router.open", ["uri": "native://walk/a"])
    _ = try await host.request("page.open")
    try await caller.call(2, "router.open", ["uri": "native://walk/b"])
    async let drained: Void = bridge.hub.drain(for: .seconds(3))
    _ = try await caller.event()
    for _ in 1...151 { try await bridge.server.advance(by: .milliseconds(20)) }
    await drained
    await bridge.hub.drain()
    let begun = try await caller.answer(1)["error"]
    #expect(begun?["code"] == -32802)
    #expect(begun?["data"]?["retryable"] == false)
    let waiting = try await caller.answer(2)["error"]
    #expect(waiting?["code"] == -32802)
    #expect(waiting?["data"]?["retryable"] == true)
  }
}
