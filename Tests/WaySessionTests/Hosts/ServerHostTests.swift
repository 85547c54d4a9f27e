import TestSupport
import Testing
import WayRouting
import WayValues

@testable import WaySession

/// A client that runs tasks for all sessions: a server-wide host.
@Suite(.timeLimit(.minutes(1)))
struct ServerHostTests {
  private func bridge() throws -> InMemoryBridge {
    InMemoryBridge(
      Router(), rules: try CompiledPolicy([Policy.Rule("all", .allow, ["*"], coversServer: true)]))
  }

  private func openServerHost(_ bridge: InMemoryBridge) async throws -> WireClient {
    try await WireClient.open(
      bridge, ["hosts": [["scheme": "action", "kind": "task", "scope": "server"]]]
    ).client
  }

  @Test func runsTasksOfEverySession() async throws {
    let bridge = try bridge()
    let serverHost = try await openServerHost(bridge)
    for _ in 0..<2 {
      let (client, opened) = try await WireClient.open(bridge)
      #expect(
        try await client.request("router.canOpen", ["uri": "action://pay"])["result"]?["canOpen"]
          == true)
      try await client.call(1, "router.invoke", ["uri": "action://pay", "params": ["n": 1]])
      let run = try await serverHost.nextMessage()
      #expect(run["params"]?["caller"]?["session"] == opened["session"])
      #expect(run["params"]?["params"] == ["n": 1])
      try await serverHost.notify("$/progress", ["id": run["id"] ?? .null, "value": "half"])
      #expect(try await client.nextMessage()["params"] == ["id": 1, "value": "half"])
      try await serverHost.respond(run, "paid")
      #expect(try await client.response(1)["result"] == "paid")
    }
  }

  @Test func forwardsCancellation() async throws {
    let bridge = try bridge()
    let serverHost = try await openServerHost(bridge)
    let (client, _) = try await WireClient.open(bridge)
    try await client.call(1, "router.invoke", ["uri": "action://pay"])
    let run = try await serverHost.nextMessage()
    try await client.notify("$/cancelRequest", ["id": 1])
    #expect(try await client.response(1)["error"]?["code"] == -32800)
    #expect(try await serverHost.nextMessage()["params"] == ["id": run["id"] ?? .null])
  }

  @Test func pendingCallsFailWhenHostLeaves() async throws {
    let bridge = try bridge()
    let serverHost = try await openServerHost(bridge)
    let (client, _) = try await WireClient.open(bridge)
    try await client.call(1, "router.invoke", ["uri": "action://pay"])
    _ = try await serverHost.nextMessage()
    try await serverHost.close()
    #expect(try await client.response(1)["error"]?["code"] == 2504)
    #expect(try await client.callStatus("router.invoke", ["uri": "action://pay"]) == "2404")
  }

  @Test func prefersHostOfSession() async throws {
    let bridge = try bridge()
    let serverHost = try await openServerHost(bridge)
    let (shell, _) = try await WireClient.open(
      bridge, ["hosts": [["scheme": "action", "kind": "task"]]])
    try await shell.call(1, "router.invoke", ["uri": "action://pay"])
    let run = try await shell.nextMessage()
    #expect(run["method"] == "task.run")
    // The client declines, so the server-wide host gets the request.
    try await shell.decline(run)
    let next = try await serverHost.nextMessage()
    try await serverHost.respond(next, "by the daemon")
    #expect(try await shell.response(1)["result"] == "by the daemon")
  }

  @Test func unregistersItsHosts() async throws {
    let bridge = try bridge()
    let serverHost = try await openServerHost(bridge)
    let host: Value = ["scheme": "action", "kind": "task", "scope": "server"]
    #expect(
      try await serverHost.request("host.unregister", ["hosts": [host]])["result"] == ["hosts": []])
    #expect(try await serverHost.callStatus("host.unregister", ["hosts": [host]]) == "-32602")
    #expect(try await serverHost.callStatus("router.invoke", ["uri": "action://pay"]) == "2404")
    let mixed: Value = [host, ["scheme": "x", "kind": "task"]]
    #expect(try await serverHost.callStatus("host.register", ["hosts": mixed]) == "-32602")
  }
}
