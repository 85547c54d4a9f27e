import TestSupport
import Testing
import WayNavigation
import WayRouting
import WayTable
import WayTransport
import WayValues

@testable import WaySession

/// `admin.…`: what who inspects a server is told.
@Suite(.timeLimit(.minutes(1)))
struct InspectorTests {
  private let router = Router()
  private let table: LiveTable
  private let bridge: InMemoryBridge

  init() throws {
    table = try LiveTable(
      RouteTable(parsing: [
        "version": "1",
        "routes": [
          ["name": "list", "pattern": "native://list/:id", "kind": "page"],
          ["name": "share", "pattern": "action://share", "kind": "task"],
          ["name": "scan", "pattern": "action://scan", "kind": "task"],
          ["name": "fax", "pattern": "fax://send", "kind": "task"],
        ],
      ]), for: router)
    try router.handle("share", with: .task { call in .object(call.params) })
    router.intercept("login", on: .routes(["list"])) { (_: Call) async throws -> Interception in
      .next
    }
    bridge = InMemoryBridge(
      router, identify: { Identity(user: $0.token) },
      rules: try CompiledPolicy([
        Policy.Rule("anna", .allow, ["*"], subjects: ["anna"]),
        Policy.Rule("everybody", .allow, ["router.*", "navigation.*", "page.*", "host.*"]),
      ]), table: table)
  }

  private func open(
    _ name: String = "shop", token: String? = nil, _ members: ValueObject = [:]
  ) async throws -> (client: WireClient, hello: Value) {
    var members = members
    members["client"] = ["name": .string(name), "version": "1"]
    return try await WireClient.open(bridge, members, from: Handshake(token: token))
  }

  private func watcher(_ wish: ValueObject = [:]) async throws -> WireClient {
    let client = try await open("inspector", token: "anna").client
    _ = try await client.value("admin.watch", wish)
    return client
  }

  /// The records of the next batch.
  private func batch(_ client: WireClient, dropped: Int64 = 0) async throws -> [Value] {
    try await bridge.server.advance(by: .milliseconds(200))
    let message = try await client.message()
    #expect(message["method"] == "admin.records")
    #expect(message["params"]?["dropped"]?.integer == dropped)
    return message["params"]?["records"]?.list ?? []
  }

  @Test func whoHasNoRuleIsRefused() async throws {
    let client = try await open().client
    for method in [
      "admin.watch", "admin.unwatch", "admin.sessions", "admin.session", "admin.routes",
      "admin.refusals", "admin.versions", "admin.explain",
    ] {
      #expect(
        try await client.verdict(method, ["session": "s", "uri": "a:b"]) == "default", "\(method)")
    }
  }

  @Test func oneRecordPairsARequestWithItsAnswer() async throws {
    let caller = try await open().client
    let watcher = try await watcher(["messages": true])
    #expect(try await caller.invoke("action://share", ["a": 1])["result"] == ["a": 1])
    #expect(try await caller.invoke("action://nowhere")["error"]?["code"] == 2404)
    let records = try await batch(watcher)
    #expect(records.count == 2)
    let call = records[0]
    #expect(call["type"] == "call" && call["method"] == "router.invoke" && call["name"] == "shop")
    #expect(call["uri"] == "action://share" && call["route"] == "share" && call["host"] == "server")
    #expect(
      call["code"] == 0 && call["params"]?["params"] == ["a": 1] && call["result"] == ["a": 1])
    #expect(call["resultBytes"] == 7 && call["ms"]?.double != nil && call["state"] == nil)
    #expect(records[1]["code"] == 2404 && records[1]["result"]?["code"] == 2404)
    #expect(records[1]["route"] == nil && records[1]["host"] == nil)
  }

  @Test func aCallThatWaitsIsToldTwice() async throws {
    let (host, hello) = try await open(
      "phone", ["hosts": [["scheme": "native", "kind": "page"]]])
    let watcher = try await watcher()
    try await host.call("a", "router.open", ["uri": "native://list/7"])
    let asked = try await host.message()
    #expect(asked["method"] == "page.open")
    let first = try await batch(watcher)
    let waits = try #require(first.first { $0["type"] == "call" })
    #expect(waits["state"] == "waits" && waits["ms"] == nil && waits["params"] == nil)
    #expect(waits["host"] == hello["client"] && waits["route"] == "list")
    #expect(first.contains { $0["type"] == "interceptors" && $0["names"] == ["login"] })
    #expect(first.contains { $0["type"] == "page" && $0["event"] == "asked" })

    try await host.reply(asked, .null)
    #expect(try await host.message()["method"] == "$/progress")
    let second = try await batch(watcher)
    let ask = try #require(second.first { $0["type"] == "ask" })
    #expect(ask["method"] == "page.open" && ask["uri"] == "native://list/7" && ask["code"] == 0)
    let page = try #require(second.first { $0["type"] == "page" && $0["event"] == "opened" })

    let detail = try await watcher.value("admin.session", ["session": hello["session"] ?? nil])
    #expect(detail["stack"]?["pages"]?.list?.first?["uri"] == "native://list/7")
    #expect(detail["calls"]?.list?.first?["waitsFor"] == "page")
    #expect(detail["clients"]?.list?.first?["hosts"]?.list?.count == 1)
    #expect(detail["records"]?.list?.count == first.count + second.count)
    let brief = try await watcher.value(
      "admin.session", ["session": hello["session"] ?? nil, "records": false])
    #expect(brief["records"] == nil && brief["stack"] == detail["stack"])

    try await host.call("b", "navigation.finish", ["page": page["page"] ?? nil])
    // Both answers, and page.close.
    for _ in 0..<3 { _ = try await host.message() }
    let last = try await batch(watcher)
    let ended = try #require(last.first { $0["method"] == "router.open" })
    #expect(ended["call"] == waits["call"] && ended["state"] == nil)
    #expect(ended["outcome"] == "finished" && ended["page"] == page["page"])
    #expect(last.contains { $0["event"] == "closed" && $0["outcome"] == "finished" })
  }

  @Test func whoDoesNotWatchAnyMoreIsToldNothing() async throws {
    let caller = try await open().client
    let watcher = try await watcher()
    #expect(bridge.loopHub.watch.isOn)
    #expect(try await watcher.value("admin.unwatch") == .null)
    #expect(!bridge.loopHub.watch.isOn)
    _ = try await caller.invoke("action://share")
    try await bridge.server.advance(by: .milliseconds(500))
    #expect(try await watcher.value("router.canOpen", ["uri": "action://share"])["canOpen"] == true)
    _ = try await watcher.value("admin.watch")
    #expect(bridge.loopHub.watch.isOn)
    try await watcher.close()
    try await bridge.server.advance(by: .seconds(200))
    #expect(!bridge.loopHub.watch.isOn)
  }

  @Test func anotherSessionIsNotTold() async throws {
    let (one, hello) = try await open()
    let other = try await open().client
    let watcher = try await watcher(["session": hello["session"] ?? nil])
    _ = try await other.invoke("action://share", ["n": 1])
    _ = try await one.invoke("action://share", ["n": 2])
    let records = try await batch(watcher)
    #expect(records.map { $0["session"] } == [hello["session"]])
    #expect(records[0]["params"] == nil)
  }

  @Test func messagesAreCutAtTheLimit() async throws {
    let caller = try await open().client
    let watcher = try await watcher(["messages": true, "limit": 50])
    let long = String(repeating: "é", count: 100)
    _ = try await caller.invoke("action://share", ["long": .string(long)])
    let record = try #require(try await batch(watcher).first)
    #expect(record["params"] == nil && record["result"] == nil)
    let cut = try #require(record["resultCut"]?.string)
    #expect(cut.hasPrefix("{\"long\":\"éé") && (49...50).contains(cut.utf8.count))
    #expect(record["resultBytes"] == 211)
    #expect(try await watcher.verdict("admin.watch", ["limit": 5]) == "-32602")
  }

  @Test func whatIsTooMuchIsCountedAsDropped() async throws {
    let caller = try await open().client
    let watcher = try await watcher()
    for _ in 0..<520 { _ = try await caller.invoke("action://share") }
    #expect(try await batch(watcher, dropped: 20).count == 500)
    let routes = try await watcher.value("admin.routes")["routes"]?.list ?? []
    #expect(routes.first { $0["name"] == "share" }?["calls"] == 520)
  }

  @Test func whatOthersDoCountsAsDroppedForThoseWhoWantIt() async throws {
    let (one, hello) = try await open()
    let other = try await open().client
    let watcher = try await watcher(["session": hello["session"] ?? nil])
    for _ in 0..<502 { _ = try await one.invoke("action://share") }
    for _ in 0..<5 { _ = try await other.invoke("action://share") }
    #expect(try await batch(watcher, dropped: 2).count == 500)
  }

  @Test func aMessageThatNestsDeepHidesNoOthers() async throws {
    let caller = try await open().client
    let watcher = try await watcher(["messages": true])
    let deep = (0..<119).reduce(Value.list([])) { value, _ in .list([value]) }
    for levels in [deep, .list([deep]), .list([.list([.list([deep])])])] {
      _ = try await caller.ask("router.invoke", ["uri": "action://share", "params": ["a": levels]])
    }
    let records = try await batch(watcher)
    #expect(records.count == 3)
    for record in records {
      #expect(record["params"] == nil && record["paramsCut"]?.string?.hasSuffix("]}}") == true)
    }
  }

  @Test func anotherWatchTakesThePlaceOfTheOneBefore() async throws {
    let (host, _) = try await open(
      "phone", ["hosts": [["patterns": ["action://scan"], "kind": "task"]]])
    let watcher = try await watcher()
    try await host.call("a", "router.invoke", ["uri": "action://scan"])
    let asked = try await host.request("task.run")
    // What is under way is not forgotten.
    _ = try await watcher.value("admin.watch", ["messages": true])
    try await host.reply(asked, "scanned")
    _ = try await host.answer("a")
    let ask = try #require(try await batch(watcher).first { $0["type"] == "ask" })
    #expect(ask["method"] == "task.run" && ask["result"] == "scanned")

    // The new one is not ended by the end of the one before.
    try await watcher.call("end", "admin.unwatch", [:])
    try await watcher.call("begin", "admin.watch", [:])
    _ = try await watcher.answer("end")
    _ = try await watcher.answer("begin")
    try await bridge.server.advance(by: .milliseconds(1))
    #expect(bridge.loopHub.watch.isOn)
  }

  @Test func whatIsNotAnsweredIsToldWhenItIsGivenUp() async throws {
    let (host, _) = try await open(
      "phone", ["hosts": [["patterns": ["action://scan"], "kind": "task"]]])
    let watcher = try await watcher()
    try await host.call("a", "router.invoke", ["uri": "action://scan"])
    _ = try await host.request("task.run")
    try await host.close()
    try await bridge.server.advance(by: .seconds(1))
    let asks = try await batch(watcher).filter { $0["type"] == "ask" }
    #expect(asks.count == 1 && asks.first?["code"] == 2504, "\(asks)")
  }

  @Test func whoMayNotAnyMoreIsToldNothing() async throws {
    let caller = try await open().client
    let watcher = try await watcher()
    await bridge.hub.follow(
      try CompiledPolicy([Policy.Rule("everybody", .allow, ["router.*", "$/ping"])]))
    _ = try await caller.invoke("action://share")
    try await bridge.server.advance(by: .milliseconds(500))
    #expect(try await watcher.hasHeardNothing())
    #expect(!bridge.loopHub.watch.isOn)
  }

  @Test func tokensAreNotTold() async throws {
    let (caller, _) = try await open(token: "bob")
    let watcher = try await watcher(["messages": true])
    _ = try await caller.ask("session.renew", ["token": "bob"])
    let record = try #require(try await batch(watcher).first)
    #expect(record["method"] == "session.renew" && record["params"]?["token"] == "…")
  }

  @Test func routesAreToldWithWhoServesThemAndHowLongTheyTook() async throws {
    let (host, hello) = try await open(
      "phone",
      [
        "hosts": [
          ["scheme": "native", "kind": "page"], ["patterns": ["action://scan"], "kind": "task"],
        ]
      ])
    let watcher = try await watcher()
    _ = try await host.invoke("action://share")
    _ = try await host.invoke("action://nowhere")
    let told = try await watcher.value("admin.routes")
    let routes = Dictionary(
      uniqueKeysWithValues: (told["routes"]?.list ?? []).map { ($0["name"]?.string ?? "", $0) })
    #expect(routes["share"]?["served"] == ["by": "server"] && routes["share"]?["calls"] == 1)
    #expect(routes["share"]?["errors"] == 0 && routes["share"]?["p99"]?.double != nil)
    #expect(routes["list"]?["served"]?["by"] == "clients" && routes["list"]?["calls"] == nil)
    #expect(
      routes["scan"]?["served"]?["clients"]
        == [["session": hello["session"] ?? nil, "client": hello["client"] ?? nil]])
    #expect(routes["fax"]?["served"] == ["by": "nobody"])
    #expect(told["undeclared"]?["calls"] == 1 && told["undeclared"]?["errors"] == 1)
    #expect(told["since"]?.integer == InMemoryBridge.now)
  }

  @Test func sessionsComeInPages() async throws {
    let watcher = try await open("inspector", token: "anna").client
    for _ in 0..<4 { _ = try await open() }
    var seen: [String] = []
    var after: Value?
    repeat {
      var params: ValueObject = ["limit": 2]
      params["after"] = after
      let told = try await watcher.value("admin.sessions", params)
      #expect(told["total"] == 5)
      seen += (told["sessions"]?.list ?? []).compactMap { $0["session"]?.string }
      after = told["next"]
    } while after != nil
    #expect(seen.count == 5 && seen == seen.sorted() && Set(seen).count == 5)
    #expect(try await watcher.verdict("admin.session", ["session": "s-none"]) == "2404")
  }

  @Test func refusedTokensAndConnectionsAreTold() async throws {
    let watcher = try await open("inspector", token: "anna").client
    let late = try await WireClient.connect(to: bridge, subprotocol: LoopSessions.subprotocol)
    try await bridge.server.advance(by: .seconds(6))
    #expect(try await late.end() == 4101)
    let told = try await watcher.value("admin.refusals")
    #expect(told["count"] == 1)
    let refusal = try #require(told["refusals"]?.list?.first)
    #expect(refusal["door"] == "connection" && refusal["code"] == 4101)
    #expect(refusal["reason"] == "No session.open within 5000 ms")
  }

  @Test func versionsAreToldWithWhatDiffers() async throws {
    let watcher = try await open("inspector", token: "anna").client
    _ = try await watcher.value(
      "table.update",
      ["operations": [["op": "redirect", "from": "action://old", "to": "action://share"]]])
    await bridge.hub.follow(
      try CompiledPolicy([Policy.Rule("anna", .allow, ["*"], subjects: ["anna"])]))
    let told = try await watcher.value("admin.versions")
    #expect(told["table"]?["version"] == "1+1")
    let earlier = try #require(told["table"]?["versions"]?.list?.first)
    #expect(earlier["version"] == "1" && earlier["changes"]?["redirects"] == ["action://old"])
    let policy = try #require(told["policy"])
    #expect(policy["rules"]?.list?.count == 1)
    #expect(policy["versions"]?.list?.first?["changes"]?["removed"] == ["everybody"])
    // One that would not let her go back once more is not gone back to.
    let first = try #require(policy["versions"]?.list?.first?["hash"]?.string)
    let back = try await watcher.value(
      "policy.rollback", ["to": .string(first), "expect": policy["hash"] ?? nil])
    #expect(back == ["hash": .string(first), "previous": policy["hash"] ?? nil])
    let again = try await watcher.value("admin.versions")["policy"]
    #expect(again?["hash"]?.string == first && again?["rules"]?.list?.count == 2)
    await bridge.hub.follow(
      try CompiledPolicy([Policy.Rule("bob", .allow, ["*"], subjects: ["bob"])]))
    let bob = try await open("inspector", token: "bob").client
    let refusal = try await bob.ask("policy.rollback", ["to": .string(first)])["error"]
    #expect(refusal?["code"] == 2409 && refusal?["data"]?["kind"] == "lockedOut")
    await bridge.hub.follow(
      try CompiledPolicy([Policy.Rule("anna", .allow, ["*"], subjects: ["anna"])]))
    _ = try await watcher.value("table.rollback", ["to": "1"])
    #expect(try await watcher.value("admin.versions")["table"]?["versions"] == [])
  }

  @Test func aURIIsExplainedForSomebodyElse() async throws {
    let (_, hello) = try await open("phone", ["hosts": [["scheme": "native", "kind": "page"]]])
    let watcher = try await open("inspector", token: "anna").client
    let bare = try await watcher.value("admin.explain", ["uri": "native://list/7"])
    #expect(bare["canOpen"] == true && bare["host"] == .null && bare["policy"] == .null)
    let here = try await watcher.value(
      "admin.explain",
      [
        "uri": "native://list/7",
        "as": ["session": hello["session"] ?? nil, "token": ["sub": "bob"]],
      ])
    #expect(here["canOpen"] == true && here["host"] == hello["client"])
    await bridge.hub.follow(
      try CompiledPolicy([
        Policy.Rule("anna", .allow, ["*"], subjects: ["anna"]),
        Policy.Rule("no bob", .deny, ["router.*"], subjects: ["bob"]),
      ]))
    let denied = try await watcher.value(
      "admin.explain", ["uri": "native://list/7", "as": ["token": ["sub": "bob"]]])
    #expect(denied["canOpen"] == false && denied["policy"] == "no bob")
    #expect(
      try await watcher.verdict("admin.explain", ["uri": "a:b", "as": ["who": 1]]) == "-32602")
  }
}
