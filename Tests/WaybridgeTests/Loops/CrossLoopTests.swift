import TestSupport
import Testing
import WayRouting
import WaySession
import WayStore
import WayTable
import WayTransport
import Waybridge

/// Effects of one client, or of the app, in the sessions of all loops.
@Suite(.timeLimit(.minutes(1)))
struct CrossLoopTests {
  private static func limitCallsToTwo(_ configuration: inout BridgeConfiguration) {
    configuration.limits.maxInFlight = 2
  }

  private static func identifyUsersByToken(_ configuration: inout BridgeConfiguration) {
    configuration.sessions.identify = { Identity(user: $0.token) }
  }

  private func serverWideHost(_ bridge: MultiLoopFixture) async throws -> WireClient {
    try await WireClient.open(
      on: bridge, ["hosts": [["scheme": "action", "kind": "task", "scope": "server"]]]
    ).client
  }

  @Test func serverWideHostRunsTasksOfEveryLoop() async throws {
    let router = Router()
    try router.task("action://whoAsks") { call in
      .string(call.caller.session)
    }
    try await MultiLoopFixture.run(router) { bridge in
      let serverHost = try await serverWideHost(bridge)
      for (client, opened) in try await bridge.openClients() {
        try await client.call(1, "router.invoke", ["uri": "action://pay", "params": ["n": 1]])
        let run = try await serverHost.nextRequest("task.run")
        #expect(run["params"]?["caller"]?["session"] == opened["session"])
        try await serverHost.notify("$/progress", ["id": run["id"] ?? .null, "value": "half"])
        #expect(try await client.nextMessage()["params"] == ["id": 1, "value": "half"])
        // Its calls on behalf of the caller have the caller's rights.
        try await serverHost.call(
          "own", "router.invoke",
          ["uri": "action://whoAsks", "onBehalfOf": run["id"] ?? .null])
        #expect(try await serverHost.response("own")["result"] == opened["session"])
        try await serverHost.respond(run, "paid")
        #expect(try await client.response(1)["result"] == "paid")
        // Now it acts on behalf of no caller.
        try await serverHost.call(
          "own", "router.invoke",
          ["uri": "action://whoAsks", "onBehalfOf": run["id"] ?? .null])
        #expect(try await serverHost.response("own")["error"]?["code"] == -32602)
      }
    }
  }

  @Test func serverWideHostDeclinesFailsAndCancelsAcrossLoops() async throws {
    try await MultiLoopFixture.run { bridge in
      let serverHost = try await serverWideHost(bridge)
      for (client, _) in try await bridge.openClients(MultiLoopFixture.loopCount) {
        try await client.call(1, "router.invoke", ["uri": "action://pay"])
        try await serverHost.decline(try await serverHost.nextRequest("task.run"))
        #expect(try await client.response(1)["error"]?["code"] == 2404)

        try await client.call(2, "router.invoke", ["uri": "action://pay"])
        try await serverHost.reject(try await serverHost.nextRequest("task.run"), 1234)
        #expect(try await client.response(2)["error"]?["code"] == 1234)

        try await client.call(3, "router.invoke", ["uri": "action://pay"])
        let run = try await serverHost.nextRequest("task.run")
        try await client.notify("$/cancelRequest", ["id": 3])
        #expect(try await client.response(3)["error"]?["code"] == -32800)
        let cancelled = try await serverHost.nextRequest("$/cancelRequest")
        #expect(cancelled["params"]?["id"] == run["id"])
        try await serverHost.respond(run, "too late")
      }
    }
  }

  @Test func callsOfEveryLoopFailWhenTheHostLeaves() async throws {
    try await MultiLoopFixture.run { bridge in
      let serverHost = try await serverWideHost(bridge)
      let clients = try await bridge.openClients().map(\.client)
      for client in clients {
        try await client.call(1, "router.invoke", ["uri": "action://pay"])
        _ = try await serverHost.nextRequest("task.run")
      }
      try await serverHost.close()
      for client in clients { #expect(try await client.response(1)["error"]?["code"] == 2504) }
      for client in clients {
        #expect(try await client.callStatus("router.invoke", ["uri": "action://pay"]) == "2404")
      }
    }
  }

  @Test func cancelledCallsCountUntilTheHostResponds() async throws {
    try await MultiLoopFixture.run(Router(), Self.limitCallsToTwo) { bridge in
      let serverHost = try await serverWideHost(bridge)
      for (client, _) in try await bridge.openClients(MultiLoopFixture.loopCount) {
        var runs: [Value] = []
        for id in 1...2 {
          try await client.call(.integer(Int64(id)), "router.invoke", ["uri": "action://pay"])
          runs.append(try await serverHost.nextRequest("task.run"))
          try await client.notify("$/cancelRequest", ["id": .integer(Int64(id))])
          _ = try await client.response(.integer(Int64(id)))
        }
        #expect(try await client.callStatus("router.invoke", ["uri": "action://pay"]) == "2429")
        for run in runs { try await serverHost.respond(run, .null) }
        // The responses of the server-wide host take another path than the client's calls.
        var isFree = false
        while !isFree {
          try await client.call("free", "router.invoke", ["uri": "action://pay"])
          try await client.call("after", "$/ping", [:])
          let first = try await client.nextMessage()
          isFree = first["id"] == "after"
          if isFree {
            try await serverHost.respond(try await serverHost.nextRequest("task.run"), "free")
            #expect(try await client.response("free")["result"] == "free")
          } else {
            #expect(first["error"]?["code"] == 2429)
            _ = try await client.response("after")
          }
        }
      }
    }
  }

  @Test func inspectorReceivesRecordsOfEveryLoop() async throws {
    let router = Router()
    try router.task("action://echo") { .object($0.params) }
    try await MultiLoopFixture.run(router) { bridge in
      let clients = try await bridge.openClients()
      let inspector = try await WireClient.open(on: bridge).client
      #expect(try await inspector.request("admin.watch", ["messages": true])["error"] == nil)
      for (number, client) in clients.enumerated() {
        let params: Value = ["n": .integer(Int64(number))]
        let response = try await client.client.request(
          "router.invoke", ["uri": "action://echo", "params": params])
        #expect(response["result"] == params)
      }
      var results: [String: Value] = [:]
      while results.count < clients.count {
        let message = try await inspector.nextMessage()
        #expect(message["method"] == "admin.records")
        for record in message["params"]?["records"]?.array ?? []
        where record["method"] == "router.invoke" {
          results[record["session"]?.string ?? ""] = record["result"]
        }
      }
      for (number, client) in clients.enumerated() {
        let session = try #require(client.opened["session"]?.string)
        #expect(results[session] == ["n": .integer(Int64(number))])
        let shown = try await inspector.request("admin.session", ["session": .string(session)])
        #expect(shown["result"]?["records"]?.array?.count == 1, "\(shown)")
      }
      let sessions = try await inspector.request("admin.sessions", ["limit": 2])["result"]
      #expect(sessions?["total"]?.integer == Int64(clients.count + 1))
      #expect(sessions?["sessions"]?.array?.count == 2)
      let routes = try await inspector.request("admin.routes")["result"]?["routes"]?.array ?? []
      let calls = routes.first { $0["patterns"] == ["action://echo"] }?["calls"]
      #expect(calls?.integer == Int64(clients.count), "\(routes)")
    }
  }

  @Test func pushReachesEverySessionOnce() async throws {
    try await MultiLoopFixture.run { bridge in
      let clients = try await bridge.openClients()
      let admin = try await WireClient.open(on: bridge).client
      let listed = try await admin.request("session.list")["result"]?.array ?? []
      #expect(
        Set(clients.map(\.opened["session"])).isSubset(of: Set(listed.map { $0["session"] })))
      #expect(listed.count == clients.count + 1)

      for (client, _) in clients { try await client.subscribe("news") }
      let event: Value = [
        "to": ["all": true], "method": "event", "params": ["topic": "news", "data": 7],
      ]
      #expect(try await admin.request("session.push", event)["error"] == nil)
      for (client, _) in clients {
        #expect(try await client.nextEvent()["data"] == 7)
        #expect(try await client.hasNoPendingMessages())
      }

      try await admin.call(
        "push", "session.push", ["to": ["all": true], "method": "app.ask", "params": [:]])
      for client in clients.map(\.client) + [admin] {
        try await client.respond(try await client.nextRequest("app.ask"), "here")
      }
      let result = try await admin.response("push")["result"]
      #expect(result?["delivered"]?.integer == Int64(clients.count + 1))
      let entries = result?["results"]?.array ?? []
      #expect(entries.count == clients.count + 1)
      #expect(entries.allSatisfy { $0["result"] == "here" })
    }
  }

  @Test func retainedEventIsFoundOnEveryLoop() async throws {
    try await MultiLoopFixture.run { bridge in
      try await bridge.running.sessionServer.dispatch.publish(
        "weather", "rain", to: .all, retain: 1)
      for (client, _) in try await bridge.openClients() {
        try await client.call(1, "events.subscribe", ["topics": ["weather"]])
        _ = try await client.response(1)
        #expect(try await client.nextEvent()["data"] == "rain")
      }
    }
  }

  @Test func deepLinkWaitsForASessionOnAnyLoop() async throws {
    let router = Router()
    try router.page("native://offer/:id")
    try await MultiLoopFixture.run(router, Self.identifyUsersByToken) { bridge in
      for user in ["anna", "ben", "cleo", "dora"] {
        try await bridge.running.sessionServer.dispatch.deliver(
          DeepLink("native://offer/\(user)"), to: .user(user))
        let (host, _) = try await WireClient.open(
          on: bridge,
          ["token": .string(user), "hosts": [["scheme": "native", "kind": "page"]]])
        #expect(try await host.acceptPageOpen()["uri"] == .string("native://offer/\(user)"))
        // A connected host gets the next link at once.
        try await bridge.running.sessionServer.dispatch.deliver(
          DeepLink("native://offer/2"), to: .user(user))
        #expect(try await host.acceptPageOpen()["uri"] == "native://offer/2")
      }
    }
  }

  @Test func tableChangeIsPublishedOnEveryLoop() async throws {
    let router = Router()
    let table = try LiveTable(RouteTable(parsing: ["version": "1", "routes": []]), for: router)
    func serve(_ configuration: inout BridgeConfiguration) { configuration.sessions.table = table }
    try await MultiLoopFixture.run(router, serve) { bridge in
      let server = bridge.running.sessionServer
      let publisher = Task { await server.dispatch.publishTableChanges(await table.changes()) }
      defer { publisher.cancel() }
      let clients = try await bridge.openClients().map(\.client)
      for client in clients { try await client.subscribe("table.changed") }
      // Change events have started when the first one has arrived.
      var version = 1
      var isNotified = false
      while !isNotified {
        version += 1
        try await table.replace(
          with: [
            "version": .string("\(version)"),
            "routes": [["name": "a", "pattern": "native://a", "kind": "page"]],
          ])
        try await clients[0].call("ping", "$/ping", [:])
        let message = try await clients[0].nextMessage()
        isNotified = message["method"] == "event"
        if isNotified { _ = try await clients[0].response("ping") }
      }
      for client in clients.dropFirst() {
        #expect(try await client.nextEvent()["topic"] == "table.changed")
      }
      for client in clients {
        #expect(
          try await client.request("router.explain", ["uri": "native://a"])["result"]?["route"]?[
            "name"]
            == "a")
      }
    }
  }

  @Test func policyChangeAppliesOnEveryLoop() async throws {
    let router = Router()
    try router.task("action://add") { _ in true }
    try await MultiLoopFixture.run(router) { bridge in
      let clients = try await bridge.openClients().map(\.client)
      let call: Value = ["uri": "action://add"]
      for client in clients { #expect(try await client.callStatus("router.invoke", call) == "ok") }
      try await bridge.running.sessionServer.applyPolicy(
        try CompiledPolicy([Policy.Rule("none", .deny, ["router.*"])]))
      for client in clients {
        #expect(try await client.callStatus("router.invoke", call) == "none")
      }
    }
  }

  @Test func storedSessionsAreRestoredOnAllLoops() async throws {
    let folder = try TestFolder()
    func startBridge() async throws -> MultiLoopFixture {
      let store = try SQLiteSessionStore(folder: folder.path)
      return try await MultiLoopFixture { $0.sessions.store = store }
    }
    var openings: [Value] = []
    let first = try await startBridge()
    for (_, opened) in try await first.openClients() { openings.append(opened) }
    await first.stop()
    let second = try await startBridge()
    #expect(await second.sessionCounts == [2, 2, 2])
    for opened in openings {
      let client = try await WireClient.connect(to: second, subprotocol: "waybridge.v1")
      let response = try await client.resume(opened, ["sent": 0])
      #expect(response["session"] == opened["session"])
    }
    await second.stop()
  }

  @Test func metricsCoverAllLoopsAndEachLoop() async throws {
    try await MultiLoopFixture.run { bridge in
      let clients = try await bridge.openClients()
      for (client, _) in clients { _ = try await client.request("$/ping") }
      let statistics = await bridge.running.sessionServer.statistics()
      #expect(statistics.map(\.calls) == [4, 4, 4])
      let totals = await bridge.running.sessionServer.totals()
      #expect(totals.sessions == clients.count)
      let pings = bridge.running.sessionServer.callCounts.first { $0.method == "$/ping" }
      #expect(pings?.outcomes.map(\.count) == [clients.count])
    }
  }
}
