import TestSupport
import Testing
import WayRouting
import WaySession
import WayStore
import WayTable
import WayTransport
import Waybridge

/// What one client, or the app, does in sessions of all loops.
@Suite(.timeLimit(.minutes(1)))
struct CrossLoopTests {
  private static func atMostTwoCalls(_ configuration: inout BridgeConfiguration) {
    configuration.limits.maxInFlight = 2
  }

  private static func usersByToken(_ configuration: inout BridgeConfiguration) {
    configuration.identify = { Identity(user: $0.token) }
  }

  private func daemon(_ bridge: MultiLoopFixture) async throws -> WireClient {
    try await WireClient.open(
      on: bridge, ["hosts": [["scheme": "action", "kind": "task", "scope": "server"]]]
    ).client
  }

  @Test func aDaemonRunsTheTasksOfEveryLoop() async throws {
    let router = Router()
    try router.task("action://whoAsks") { call in
      .string(call.caller.session)
    }
    try await MultiLoopFixture.with(router) { bridge in
      let daemon = try await daemon(bridge)
      for (client, hello) in try await bridge.clients() {
        try await client.call(1, "router.invoke", ["uri": "action://pay", "params": ["n": 1]])
        let run = try await daemon.request("task.run")
        #expect(run["params"]?["caller"]?["session"] == hello["session"])
        try await daemon.notify("$/progress", ["id": run["id"] ?? .null, "value": "half"])
        #expect(try await client.message()["params"] == ["id": 1, "value": "half"])
        // What it does for its caller, it does with that one's rights.
        try await daemon.call(
          "own", "router.invoke",
          ["uri": "action://whoAsks", "onBehalfOf": run["id"] ?? .null])
        #expect(try await daemon.answer("own")["result"] == hello["session"])
        try await daemon.reply(run, "paid")
        #expect(try await client.answer(1)["result"] == "paid")
        // Now it serves nobody.
        try await daemon.call(
          "own", "router.invoke",
          ["uri": "action://whoAsks", "onBehalfOf": run["id"] ?? .null])
        #expect(try await daemon.answer("own")["error"]?["code"] == -32602)
      }
    }
  }

  @Test func aDaemonDeclinesFailsAndIsCancelledAcrossLoops() async throws {
    try await MultiLoopFixture.with { bridge in
      let daemon = try await daemon(bridge)
      for (client, _) in try await bridge.clients(MultiLoopFixture.loops) {
        try await client.call(1, "router.invoke", ["uri": "action://pay"])
        try await daemon.decline(try await daemon.request("task.run"))
        #expect(try await client.answer(1)["error"]?["code"] == 2404)

        try await client.call(2, "router.invoke", ["uri": "action://pay"])
        try await daemon.refuse(try await daemon.request("task.run"), 1234)
        #expect(try await client.answer(2)["error"]?["code"] == 1234)

        try await client.call(3, "router.invoke", ["uri": "action://pay"])
        let run = try await daemon.request("task.run")
        try await client.notify("$/cancelRequest", ["id": 3])
        #expect(try await client.answer(3)["error"]?["code"] == -32800)
        let cancelled = try await daemon.request("$/cancelRequest")
        #expect(cancelled["params"]?["id"] == run["id"])
        try await daemon.reply(run, "too late")
      }
    }
  }

  @Test func callersOnEveryLoopHearThatADaemonIsGone() async throws {
    try await MultiLoopFixture.with { bridge in
      let daemon = try await daemon(bridge)
      let clients = try await bridge.clients().map(\.client)
      for client in clients {
        try await client.call(1, "router.invoke", ["uri": "action://pay"])
        _ = try await daemon.request("task.run")
      }
      try await daemon.close()
      for client in clients { #expect(try await client.answer(1)["error"]?["code"] == 2504) }
      for client in clients {
        #expect(try await client.verdict("router.invoke", ["uri": "action://pay"]) == "2404")
      }
    }
  }

  @Test func whatACallerDoesNotWaitForAnyMoreCountsUntilItIsAnswered() async throws {
    try await MultiLoopFixture.with(Router(), Self.atMostTwoCalls) { bridge in
      let daemon = try await daemon(bridge)
      for (client, _) in try await bridge.clients(MultiLoopFixture.loops) {
        var runs: [Value] = []
        for id in 1...2 {
          try await client.call(.integer(Int64(id)), "router.invoke", ["uri": "action://pay"])
          runs.append(try await daemon.request("task.run"))
          try await client.notify("$/cancelRequest", ["id": .integer(Int64(id))])
          _ = try await client.answer(.integer(Int64(id)))
        }
        #expect(try await client.verdict("router.invoke", ["uri": "action://pay"]) == "2429")
        for run in runs { try await daemon.reply(run, .null) }
        // The daemon's answers go another way than the client's calls.
        var isFree = false
        while !isFree {
          try await client.call("free", "router.invoke", ["uri": "action://pay"])
          try await client.call("after", "$/ping", [:])
          let first = try await client.message()
          isFree = first["id"] == "after"
          if isFree {
            try await daemon.reply(try await daemon.request("task.run"), "free")
            #expect(try await client.answer("free")["result"] == "free")
          } else {
            #expect(first["error"]?["code"] == 2429)
            _ = try await client.answer("after")
          }
        }
      }
    }
  }

  @Test func whoInspectsIsToldOfEveryLoop() async throws {
    let router = Router()
    try router.task("action://echo") { .object($0.params) }
    try await MultiLoopFixture.with(router) { bridge in
      let clients = try await bridge.clients()
      let inspector = try await WireClient.open(on: bridge).client
      #expect(try await inspector.ask("admin.watch", ["messages": true])["error"] == nil)
      for (number, client) in clients.enumerated() {
        let params: Value = ["n": .integer(Int64(number))]
        let answer = try await client.client.ask(
          "router.invoke", ["uri": "action://echo", "params": params])
        #expect(answer["result"] == params)
      }
      var told: [String: Value] = [:]
      while told.count < clients.count {
        let message = try await inspector.message()
        #expect(message["method"] == "admin.records")
        for record in message["params"]?["records"]?.list ?? []
        where record["method"] == "router.invoke" {
          told[record["session"]?.string ?? ""] = record["result"]
        }
      }
      for (number, client) in clients.enumerated() {
        let session = try #require(client.hello["session"]?.string)
        #expect(told[session] == ["n": .integer(Int64(number))])
        let shown = try await inspector.ask("admin.session", ["session": .string(session)])
        #expect(shown["result"]?["records"]?.list?.count == 1, "\(shown)")
      }
      let sessions = try await inspector.ask("admin.sessions", ["limit": 2])["result"]
      #expect(sessions?["total"]?.integer == Int64(clients.count + 1))
      #expect(sessions?["sessions"]?.list?.count == 2)
      let routes = try await inspector.ask("admin.routes")["result"]?["routes"]?.list ?? []
      let calls = routes.first { $0["patterns"] == ["action://echo"] }?["calls"]
      #expect(calls?.integer == Int64(clients.count), "\(routes)")
    }
  }

  @Test func everySessionIsReachedOnce() async throws {
    try await MultiLoopFixture.with { bridge in
      let clients = try await bridge.clients()
      let admin = try await WireClient.open(on: bridge).client
      let listed = try await admin.ask("session.list")["result"]?.list ?? []
      #expect(
        Set(clients.map(\.hello["session"])).isSubset(of: Set(listed.map { $0["session"] })))
      #expect(listed.count == clients.count + 1)

      for (client, _) in clients { try await client.subscribe("news") }
      let event: Value = [
        "to": ["all": true], "method": "event", "params": ["topic": "news", "data": 7],
      ]
      #expect(try await admin.ask("session.push", event)["error"] == nil)
      for (client, _) in clients {
        #expect(try await client.event()["data"] == 7)
        #expect(try await client.hasHeardNothing())
      }

      try await admin.call(
        "push", "session.push", ["to": ["all": true], "method": "app.ask", "params": [:]])
      for client in clients.map(\.client) + [admin] {
        try await client.reply(try await client.request("app.ask"), "here")
      }
      let delivered =
        try await admin.answer("push")["result"]?["delivered"]?.list ?? []
      #expect(delivered.count == clients.count + 1)
      #expect(delivered.allSatisfy { $0["result"] == "here" })
    }
  }

  @Test func whatIsRetainedIsFoundOnEveryLoop() async throws {
    try await MultiLoopFixture.with { bridge in
      try await bridge.running.group.allServers.publish("weather", "rain", to: .all, retain: 1)
      for (client, _) in try await bridge.clients() {
        try await client.call(1, "events.subscribe", ["topics": ["weather"]])
        _ = try await client.answer(1)
        #expect(try await client.event()["data"] == "rain")
      }
    }
  }

  @Test func aLinkWaitsForTheFirstSessionOfAnyLoop() async throws {
    let router = Router()
    try router.page("native://offer/:id")
    try await MultiLoopFixture.with(router, Self.usersByToken) { bridge in
      for user in ["anna", "ben", "cleo", "dora"] {
        try await bridge.running.group.allServers.deliver(
          DeepLink("native://offer/\(user)"), to: .user(user))
        let (host, _) = try await WireClient.open(
          on: bridge,
          ["token": .string(user), "hosts": [["scheme": "native", "kind": "page"]]])
        #expect(try await host.show()["uri"] == .string("native://offer/\(user)"))
        // Who is there by now gets the next at once.
        try await bridge.running.group.allServers.deliver(
          DeepLink("native://offer/2"), to: .user(user))
        #expect(try await host.show()["uri"] == "native://offer/2")
      }
    }
  }

  @Test func aTableThatChangesIsToldOnEveryLoop() async throws {
    let router = Router()
    let table = try LiveTable(RouteTable(parsing: ["version": "1", "routes": []]), for: router)
    func serve(_ configuration: inout BridgeConfiguration) { configuration.table = table }
    try await MultiLoopFixture.with(router, serve) { bridge in
      let server = bridge.running.group
      let telling = Task { await server.tell(await table.changes()) }
      defer { telling.cancel() }
      let clients = try await bridge.clients().map(\.client)
      for client in clients { try await client.subscribe("table.changed") }
      // Who tells has begun when its first change has come.
      var version = 1
      var isTold = false
      while !isTold {
        version += 1
        try await table.replace(
          with: [
            "version": .string("\(version)"),
            "routes": [["name": "a", "pattern": "native://a", "kind": "page"]],
          ])
        try await clients[0].call("ping", "$/ping", [:])
        let message = try await clients[0].message()
        isTold = message["method"] == "event"
        if isTold { _ = try await clients[0].answer("ping") }
      }
      for client in clients.dropFirst() {
        #expect(try await client.event()["topic"] == "table.changed")
      }
      for client in clients {
        #expect(
          try await client.ask("router.explain", ["uri": "native://a"])["result"]?["route"]?["name"]
            == "a")
      }
    }
  }

  @Test func rulesThatChangeHoldOnEveryLoop() async throws {
    let router = Router()
    try router.task("action://add") { _ in true }
    try await MultiLoopFixture.with(router) { bridge in
      let clients = try await bridge.clients().map(\.client)
      let call: Value = ["uri": "action://add"]
      for client in clients { #expect(try await client.verdict("router.invoke", call) == "ok") }
      await bridge.running.group.follow(
        try CompiledPolicy([Policy.Rule("none", .deny, ["router.*"])]))
      for client in clients { #expect(try await client.verdict("router.invoke", call) == "none") }
    }
  }

  @Test func whatIsKeptIsTakenUpByAllLoops() async throws {
    let folder = try TestFolder()
    func kept() async throws -> MultiLoopFixture {
      let store = try SQLiteSessionStore(folder: folder.path)
      return try await MultiLoopFixture { $0.store = store }
    }
    var hellos: [Value] = []
    let first = try await kept()
    for (_, hello) in try await first.clients() { hellos.append(hello) }
    await first.stop()
    let second = try await kept()
    #expect(await second.sessions == [2, 2, 2])
    for hello in hellos {
      let client = try await WireClient.connect(to: second, subprotocol: "waybridge.v1")
      let answer = try await client.resume(hello, ["sent": 0])
      #expect(answer["session"] == hello["session"])
    }
    await second.stop()
  }

  @Test func metricsAreOfAllLoopsAndOfEach() async throws {
    try await MultiLoopFixture.with { bridge in
      let clients = try await bridge.clients()
      for (client, _) in clients { _ = try await client.ask("$/ping") }
      let statistics = await bridge.running.group.statistics()
      #expect(statistics.map(\.calls) == [4, 4, 4])
      let census = await bridge.running.group.census()
      #expect(census.sessions == clients.count)
      let pings = bridge.running.group.callCounts.first { $0.method == "$/ping" }
      #expect(pings?.outcomes.map(\.count) == [clients.count])
    }
  }
}
