import TestSupport
import Testing
import WayRouting
import WayValues

@testable import WaySession

/// A client that runs tasks for all sessions: a native daemon.
@Suite(.timeLimit(.minutes(1)))
struct ServerHostTests {
  private func bridge() throws -> InMemoryBridge {
    InMemoryBridge(
      Router(), rules: try CompiledPolicy([Policy.Rule("all", .allow, ["*"], coversServer: true)]))
  }

  private func daemon(_ bridge: InMemoryBridge) async throws -> WireClient {
    try await WireClient.open(
      bridge, ["hosts": [["scheme": "action", "kind": "task", "scope": "server"]]]
    ).client
  }

  @Test func itRunsTheTasksOfEverySessionAndIsToldWhose() async throws {
    let bridge = try bridge()
    let daemon = try await daemon(bridge)
    for _ in 0..<2 {
      let (client, hello) = try await WireClient.open(bridge)
      #expect(
        try await client.ask("router.canOpen", ["uri": "action://pay"])["result"]?["canOpen"]
          == true)
      try await client.call(1, "router.invoke", ["uri": "action://pay", "params": ["n": 1]])
      let run = try await daemon.message()
      #expect(run["params"]?["caller"]?["session"] == hello["session"])
      #expect(run["params"]?["params"] == ["n": 1])
      try await daemon.notify("$/progress", ["id": run["id"] ?? .null, "value": "half"])
      #expect(try await client.message()["params"] == ["id": 1, "value": "half"])
      try await daemon.reply(run, "paid")
      #expect(try await client.answer(1)["result"] == "paid")
    }
  }

  @Test func aCancelReachesIt() async throws {
    let bridge = try bridge()
    let daemon = try await daemon(bridge)
    let (client, _) = try await WireClient.open(bridge)
    try await client.call(1, "router.invoke", ["uri": "action://pay"])
    let run = try await daemon.message()
    try await client.notify("$/cancelRequest", ["id": 1])
    #expect(try await client.answer(1)["error"]?["code"] == -32800)
    #expect(try await daemon.message()["params"] == ["id": run["id"] ?? .null])
  }

  @Test func whatWaitsForItEndsWithIt() async throws {
    let bridge = try bridge()
    let daemon = try await daemon(bridge)
    let (client, _) = try await WireClient.open(bridge)
    try await client.call(1, "router.invoke", ["uri": "action://pay"])
    _ = try await daemon.message()
    try await daemon.close()
    #expect(try await client.answer(1)["error"]?["code"] == 2504)
    #expect(try await client.verdict("router.invoke", ["uri": "action://pay"]) == "2404")
  }

  @Test func aSessionsOwnHostGoesFirst() async throws {
    let bridge = try bridge()
    let daemon = try await daemon(bridge)
    let (shell, _) = try await WireClient.open(
      bridge, ["hosts": [["scheme": "action", "kind": "task"]]])
    try await shell.call(1, "router.invoke", ["uri": "action://pay"])
    let run = try await shell.message()
    #expect(run["method"] == "task.run")
    // It declines, and the daemon is asked.
    try await shell.decline(run)
    let next = try await daemon.message()
    try await daemon.reply(next, "by the daemon")
    #expect(try await shell.answer(1)["result"] == "by the daemon")
  }

  @Test func itTakesItsHostsBack() async throws {
    let bridge = try bridge()
    let daemon = try await daemon(bridge)
    let host: Value = ["scheme": "action", "kind": "task", "scope": "server"]
    #expect(try await daemon.ask("host.unregister", ["hosts": [host]])["result"] == ["hosts": []])
    #expect(try await daemon.verdict("host.unregister", ["hosts": [host]]) == "-32602")
    #expect(try await daemon.verdict("router.invoke", ["uri": "action://pay"]) == "2404")
    let mixed: Value = [host, ["scheme": "x", "kind": "task"]]
    #expect(try await daemon.verdict("host.register", ["hosts": mixed]) == "-32602")
  }
}
