import TestSupport
import Testing
import WayNavigation
import WayRouting
import WayTable
import WayTransport
import WayValues

@testable import WaySession

/// The methods `table.…`, and the effects of a table change on sessions.
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

  @Test func readsUpdatesAndRollsBackTable() async throws {
    let client = try await open()
    let changes = await table.changes()
    let publisher = Task { await bridge.sessionServer.dispatch.publishTableChanges(changes) }
    defer { publisher.cancel() }
    let subscriber = try await open()
    try await subscriber.subscribe("table.changed")
    var iterator = try await bridge.sessionServer.events(["table.*"], limit: 8).makeAsyncIterator()
    let first = try await client.callResult("table.get")
    #expect(first["version"] == "1" && first["versions"] == [])
    let changed = try await client.callResult(
      "table.update",
      [
        "expect": "1",
        "operations": [["op": "redirect", "from": "action://old", "to": "action://share"]],
      ])
    #expect(changed["version"] == "1+1" && changed["changes"]?["redirects"] == ["action://old"])
    #expect(try await client.invoke("action://old")["result"] == "shared")
    let event = try await subscriber.nextEvent()
    #expect(event["topic"] == "table.changed")
    let data = try #require(event["data"])
    #expect(data["previous"]?["version"] == "1" && data["cause"] == "update")
    #expect(data["version"] == "1+1" && data["hash"] == changed["hash"])
    #expect(try await iterator.next()?.data == data)
    let back = try await client.callResult("table.rollback", ["expect": "1+1"])
    #expect(back["hash"] == first["hash"])
    #expect(try await subscriber.nextEvent()["data"]?["cause"] == "rollback")
    #expect(try await client.callStatus("router.invoke", ["uri": "action://old"]) == "2404")
  }

  @Test(
    "rejects invalid updates and changes nothing",
    arguments: [
      ([:], "-32602"), (["operations": [], "table": [:]], "-32602"),
      (["operations": [["op": "remove", "route": "none"]]], "-32602"),
      (["table": ["version": "2", "routes": [["name": "x"]]]], "-32602"),
      (["expect": "7", "operations": [["op": "reset"]]], "2409"),
      (["table": ["version": "0", "routes": []]], "2409"),
    ] as [(Value, String)])
  func rejectsInvalidUpdate(_ params: Value, _ code: String) async throws {
    let client = try await open()
    #expect(try await client.callStatus("table.update", params).contains(code))
    #expect(try await client.callResult("table.get")["version"] == "1")
    #expect(try await client.invoke("action://share")["result"] == "shared")
  }

  @Test func reportsAllErrorsOfTable() async throws {
    let client = try await open()
    try await client.call(
      1, "table.update",
      ["table": ["version": "2", "routes": [["name": "x"], ["name": "x", "kind": "pag"]]]])
    let error = try #require(try await client.nextMessage()["error"])
    let paths = error["data"]?["errors"]?.array?.compactMap { $0["path"]?.string } ?? []
    #expect(paths.contains("$.routes[0]") && paths.contains("$.routes[1].name"))
    #expect(paths.contains("$.routes[1].kind"))
  }

  @Test func keepsOpenPagesOfRemovedRoute() async throws {
    let client = try await open()
    try await client.call("open", "router.open", ["uri": "native://list"])
    let page = try await client.acceptPageOpen()
    _ = try await client.nextRequest("$/progress")
    _ = try await table.update([.remove(route: "list"), .remove(route: "share")])
    #expect(try await client.callStatus("router.invoke", ["uri": "action://share"]) == "2404")
    // The scheme has a host, so that the page of the removed route is now a page without a route.
    let stack = try await client.callResult("navigation.stack")
    #expect(stack["pages"]?.array?.first?["id"] == page["id"])
    #expect(stack["pages"]?.array?.first?["route"] == "list")
    try await client.call(
      "end", "navigation.finish", ["page": page["id"] ?? nil, "result": ["data": 7]])
    let close = try await client.nextRequest("page.close")
    try await client.respond(close, nil)
    let outcome = try await client.response("open")["result"] ?? .null
    #expect(outcome["outcome"] == "finished" && outcome["data"] == 7)
  }

  @Test func pagesOfRemovedTabStayReachable() async throws {
    let tabs: [Value] = ["native://list", "native://tab/1", "native://tab/2"]
    func document(_ version: Value, _ count: Int) -> Value {
      [
        "version": version, "tabs": .array(Array(tabs.prefix(count))),
        "routes": [["name": "tab", "pattern": "native://tab/:n", "kind": "page"]],
      ]
    }
    let client = try await open()
    _ = try await table.replace(with: document("2", 3))
    var pages: [Value] = []
    for index in [2, 0] as [Value] {
      try await client.call(index, "navigation.selectTab", ["index": index])
      pages.append(try await client.acceptPageOpen()["id"] ?? .null)
      _ = try await client.response(index)
    }
    _ = try await table.replace(with: document("3", 1))
    let listed = try await client.callResult("navigation.stack")["tabs"]?.array ?? []
    #expect(listed.map { $0["uri"] }.last == "navigation:selectTab?index=2" && listed.count == 3)
    #expect(listed.last?["pages"]?.array?.map { $0["id"] } == [pages[0]])
    for reference in [["index": 2], ["uri": "native://tab/2"]] as [ValueObject] {
      #expect(
        try await client.callResult("navigation.selectTab", reference)["page"] == pages[0])
      #expect(try await client.callResult("navigation.stack")["selected"] == 2)
      _ = try await client.callResult("navigation.selectTab", ["index": 0])
    }
    #expect(
      try await client.callStatus(
        "router.open", ["uri": "navigation:selectTab?index=2&n=1"]) == "2404")
    #expect(try await client.callStatus("navigation.selectTab", ["index": 1]) == "2404")
    _ = try await client.callResult("navigation.finish", ["page": pages[0]])
    #expect(try await client.callResult("navigation.stack")["tabs"]?.array?.count == 1)
    #expect(try await client.callStatus("navigation.selectTab", ["index": 2]) == "2404")
  }

  @Test func appliesDefaultPresentation() async throws {
    let client = try await open()
    try await client.call("first", "router.open", ["uri": "native://list"])
    _ = try await client.acceptPageOpen()
    _ = try await client.nextRequest("$/progress")
    try await client.call(
      "a", "router.open",
      ["uri": "native://sheet", "style": "push", "exts": ["animated": true, "x": 1]])
    let other = try await client.acceptPageOpen()
    #expect(other["style"] == "push")
    #expect(other["exts"] == ["animated": true, "x": 1, "navigation": false])
    _ = try await client.nextRequest("$/progress")
    try await client.call("b", "router.open", ["uri": "native://sheet"])
    let page = try await client.acceptPageOpen()
    #expect(page["style"] == "present")
    #expect(page["exts"] == ["animated": false, "navigation": false])
  }

  @Test func appliesRolloutToUsersAndVersions() async throws {
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
    let explanation = try await old.callResult("router.explain", ["uri": "action://share"])
    #expect(explanation["releases"] == ["route 'new': it is for shop >=2, not for shop 1.9"])
    #expect(explanation["route"]?["name"] == "share")
    // A tenth of the users gets the other branch, in whichever session they are.
    _ = try await table.update([
      .redirect([
        "from": "action://half",
        "branches": [["share": 0.5, "to": "action://share"]],
      ])
    ])
    for user in (0..<20).map({ "u\($0)" }) {
      let caller = Caller(session: "", identity: Identity(user: user))
      let isIn = RouteRollout.position(of: caller, salt: "action://half") < 0.5
      let client = try await open("1.0", token: user)
      let verdict = try await client.callStatus("router.invoke", ["uri": "action://half"])
      #expect(verdict.contains("2404") != isIn, "\(user): \(verdict)")
      try await client.close()
    }
  }

  @Test func checkComparesRoutesWithHandlersAndHosts() async throws {
    let client = try await open()
    try router.task("action://own") { _ in nil }
    _ = try await client.callResult(
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
    let found = try await client.callResult("table.check")
    #expect(found["version"] == "1+1")
    #expect(found["unserved"] == ["far"] && found["undeclared"] == ["action://own"])
    #expect(found["handlers"] == ["share"])
    let hosts = found["hosts"]?.array?.compactMap { $0["scheme"] ?? $0["patterns"]?.array?.first }
    #expect(Set(hosts ?? []) == ["action://stray", "x"])
  }

  @Test func checkNamesSchemesWhoseHostHidesUndefinedRoutes() async throws {
    let client = try await open()
    _ = try await client.callResult(
      "host.register",
      [
        "hosts": [
          ["kind": "page", "scheme": "http"], ["kind": "task", "scheme": "free"],
          ["kind": "task", "scheme": "action", "patterns": ["action://some"]],
        ]
      ])
    func undefined() async throws -> Value? {
      try await client.callResult("table.check")["undefined"]
    }
    #expect(try await undefined() == [])
    // The handler counts for schemes with declared routes, of which "native" has a host.
    router.setUndefinedRouteHandler { _ in .decline }
    #expect(try await undefined() == ["native"])
    try router.setUndefinedRoute(scheme: "http", leadsTo: "native://list")
    try router.setUndefinedRoute(scheme: "action", leadsTo: "action://share")
    #expect(try await undefined() == ["http", "native"])
    try router.setScheme("native", isClosed: true)
    #expect(try await undefined() == ["http"])
    try router.setScheme("http", isClosed: true)
    #expect(try await undefined() == [])
  }

  @Test func reportsMissingTable() async throws {
    let bridge = InMemoryBridge(
      Router(), rules: try CompiledPolicy([Policy.Rule("all", .allow, ["*"])]))
    let (client, opened) = try await WireClient.open(bridge, [:])
    #expect(opened["table"] == ["version": "", "hash": ""])
    try await client.call(1, "table.get", [:])
    #expect(try await client.nextMessage()["error"]?["data"]?["kind"] == "noTable")
  }
}

extension WireClient {
  /// Calls a method and returns its result.
  func callResult(_ method: String, _ params: ValueObject = [:]) async throws -> Value {
    let response = try await request(method, .object(params))
    return try #require(response["result"], "\(response)")
  }
}
