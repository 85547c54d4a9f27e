import TestSupport
import Testing
import WayNavigation
import WayRouting
import WayTable
import WayTransport
import WayValues

@testable import WaySession

/// `table.…`, and what becomes of sessions when their table changes.
@Suite(.timeLimit(.minutes(1)))
struct TableMethodTests {
  private let router = Router()
  private let table: LiveTable
  private let bridge: InMemoryBridge

  init() throws {
    table = try LiveTable(
      RouteTable(parsing: [
        "version": "1",
        "routes": [
          ["name": "list", "pattern": "native://list", "kind": "page"],
          ["name": "share", "pattern": "action://share", "kind": "task"],
          [
            "name": "sheet", "pattern": "native://sheet", "kind": "page",
            "presentation": ["style": "present", "animated": false, "navigation": false],
          ],
        ],
      ]), for: router)
    try router.handle("share", with: .task { _ in "shared" })
    bridge = InMemoryBridge(
      router, identify: { Identity(user: $0.token) },
      rules: try CompiledPolicy([Policy.Rule("all", .allow, ["*"])]), table: table)
  }

  private func open(
    _ version: String = "1", token: String? = nil
  ) async throws -> WireClient {
    try await WireClient.open(
      bridge,
      [
        "client": ["name": "shop", "version": .string(version)],
        "hosts": [["scheme": "native", "kind": "page"]],
      ], from: Handshake(token: token)
    ).client
  }

  @Test func aTableIsLookedAtChangedAndGoneBackTo() async throws {
    let client = try await open()
    let changes = await table.changes()
    let telling = Task { await bridge.hub.tell(changes) }
    defer { telling.cancel() }
    let watcher = try await open()
    try await watcher.subscribe("table.changed")
    var heard = try await bridge.hub.events(["table.*"], limit: 8).makeAsyncIterator()
    let first = try await client.value("table.get")
    #expect(first["version"] == "1" && first["versions"] == [])
    let changed = try await client.value(
      "table.update",
      [
        "expect": "1",
        "operations": [["op": "redirect", "from": "action://old", "to": "action://share"]],
      ])
    #expect(changed["version"] == "1+1" && changed["changes"]?["redirects"] == ["action://old"])
    #expect(try await client.invoke("action://old")["result"] == "shared")
    let event = try await watcher.event()
    #expect(event["topic"] == "table.changed")
    let data = try #require(event["data"])
    #expect(data["previous"]?["version"] == "1" && data["cause"] == "update")
    #expect(data["version"] == "1+1" && data["hash"] == changed["hash"])
    #expect(try await heard.next()?.data == data)
    let back = try await client.value("table.rollback", ["expect": "1+1"])
    #expect(back["hash"] == first["hash"])
    #expect(try await watcher.event()["data"]?["cause"] == "rollback")
    #expect(try await client.verdict("router.invoke", ["uri": "action://old"]) == "2404")
  }

  @Test(
    "what is wrong is told, and nothing changes",
    arguments: [
      ([:], "-32602"), (["operations": [], "table": [:]], "-32602"),
      (["operations": [["op": "remove", "route": "none"]]], "-32602"),
      (["table": ["version": "2", "routes": [["name": "x"]]]], "-32602"),
      (["expect": "7", "operations": [["op": "reset"]]], "2409"),
      (["table": ["version": "0", "routes": []]], "2409"),
    ] as [(Value, String)])
  func refused(_ params: Value, _ code: String) async throws {
    let client = try await open()
    #expect(try await client.verdict("table.update", params).contains(code))
    #expect(try await client.value("table.get")["version"] == "1")
    #expect(try await client.invoke("action://share")["result"] == "shared")
  }

  @Test func everyFaultOfATableIsTold() async throws {
    let client = try await open()
    try await client.call(
      1, "table.update",
      ["table": ["version": "2", "routes": [["name": "x"], ["name": "x", "kind": "pag"]]]])
    let error = try #require(try await client.message()["error"])
    let paths = error["data"]?["errors"]?.list?.compactMap { $0["path"]?.string } ?? []
    #expect(paths.contains("$.routes[0]") && paths.contains("$.routes[1].name"))
    #expect(paths.contains("$.routes[1].kind"))
  }

  @Test func openPagesLiveOnAndOnlyNewCallsAreRefused() async throws {
    let client = try await open()
    try await client.call("open", "router.open", ["uri": "native://list"])
    let page = try await client.show()
    _ = try await client.request("$/progress")
    _ = try await table.update([.remove(route: "list"), .remove(route: "share")])
    #expect(try await client.verdict("router.invoke", ["uri": "action://share"]) == "2404")
    // The scheme is hosted, so that the page of the removed route is one without a route now.
    let stack = try await client.value("navigation.stack")
    #expect(stack["pages"]?.list?.first?["id"] == page["id"])
    #expect(stack["pages"]?.list?.first?["route"] == "list")
    try await client.call(
      "end", "navigation.finish", ["page": page["id"] ?? nil, "result": ["data": 7]])
    let close = try await client.request("page.close")
    try await client.reply(close, nil)
    let outcome = try await client.answer("open")["result"] ?? .null
    #expect(outcome["outcome"] == "finished" && outcome["data"] == 7)
  }

  @Test func aPresentationCountsWhereACallSaysNothing() async throws {
    let client = try await open()
    try await client.call("first", "router.open", ["uri": "native://list"])
    _ = try await client.show()
    _ = try await client.request("$/progress")
    try await client.call(
      "a", "router.open",
      ["uri": "native://sheet", "style": "push", "exts": ["animated": true, "x": 1]])
    let other = try await client.show()
    #expect(other["style"] == "push")
    #expect(other["exts"] == ["animated": true, "x": 1, "navigation": false])
    _ = try await client.request("$/progress")
    try await client.call("b", "router.open", ["uri": "native://sheet"])
    let page = try await client.show()
    #expect(page["style"] == "present")
    #expect(page["exts"] == ["animated": false, "navigation": false])
  }

  @Test func aReleaseIsForUsersAndForVersionsOfTheirClients() async throws {
    _ = try await table.update([
      .add(route: [
        "name": "new", "pattern": "action://share", "kind": "task", "priority": 1,
        "release": ["clients": ["shop": ">=2"]],
      ])
    ])
    try router.handle("new", with: .task { _ in "new" })
    let (old, new) = (try await open("1.9"), try await open("2.0"))
    #expect(try await old.invoke("action://share")["result"] == "shared")
    #expect(try await new.invoke("action://share")["result"] == "new")
    let told = try await old.value("router.explain", ["uri": "action://share"])
    #expect(told["releases"] == ["route 'new': it is for shop >=2, not for shop 1.9"])
    #expect(told["route"]?["name"] == "share")
    // A tenth of the users is led elsewhere, whichever session they are in.
    _ = try await table.update([
      .redirect([
        "from": "action://half",
        "branches": [["share": 0.5, "to": "action://share"]],
      ])
    ])
    for user in (0..<20).map({ "u\($0)" }) {
      let caller = Caller(session: "", identity: Identity(user: user))
      let isIn = Rollout.place(of: caller, salt: "action://half") < 0.5
      let client = try await open("1.0", token: user)
      let verdict = try await client.verdict("router.invoke", ["uri": "action://half"])
      #expect(verdict.contains("2404") != isIn, "\(user): \(verdict)")
      try await client.close()
    }
  }

  @Test func whatIsDeclaredAndWhoIsThereAreCompared() async throws {
    let client = try await open()
    try router.task("action://own") { _ in nil }
    _ = try await client.value(
      "host.register",
      [
        "hosts": [
          ["kind": "task", "patterns": ["action://stray"]], ["kind": "task", "scheme": "x"],
        ]
      ])
    _ = try await table.update([
      .remove(route: "share"),
      .add(route: ["name": "far", "pattern": "flutter://far", "kind": "page"]),
    ])
    let found = try await client.value("table.check")
    #expect(found["version"] == "1+1")
    #expect(found["unserved"] == ["far"] && found["undeclared"] == ["action://own"])
    #expect(found["handlers"] == ["share"])
    let hosts = found["hosts"]?.list?.compactMap { $0["scheme"] ?? $0["patterns"]?.list?.first }
    #expect(Set(hosts ?? []) == ["action://stray", "x"])
  }

  @Test func aServerWithoutATableSaysSo() async throws {
    let bridge = InMemoryBridge(
      Router(), rules: try CompiledPolicy([Policy.Rule("all", .allow, ["*"])]))
    let (client, hello) = try await WireClient.open(bridge, [:])
    #expect(hello["table"] == ["version": "", "hash": ""])
    try await client.call(1, "table.get", [:])
    #expect(try await client.message()["error"]?["data"]?["kind"] == "noTable")
  }
}

extension WireClient {
  /// The result of a call.
  func value(_ method: String, _ params: ValueObject = [:]) async throws -> Value {
    let answer = try await ask(method, .object(params))
    return try #require(answer["result"], "\(answer)")
  }
}
