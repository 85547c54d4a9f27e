import TestSupport
import Testing
import WayPatterns
import WayRouting
import WayTable
import WayTransport
import WayValues

@testable import WaySession

/// References to open pages after the route table has changed.
@Suite(.timeLimit(.minutes(1)))
struct OpenPageReferenceTests {
  /// A table that replaces ``firstTable``.
  struct TableChange: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let routes: [Value]
    var redirects: [Value] = []
    var isClosed = false
    /// Whether the URI of the item still leads anywhere.
    var opensItem = true

    var table: Value {
      [
        "version": "2", "routes": .array([OpenPageReferenceTests.home] + routes),
        "redirects": .array(redirects), "schemes": ["native": ["closed": .bool(isClosed)]],
      ]
    }
  }

  static let home = route("home", "native://home")
  private static let item = route("item", "native://item/:id")
  private static let product = route("product", "native://product/:sku")
  private static let old: Value = ["from": "native://old/:id", "to": "native://item/:id"]

  private static let firstTable: Value = [
    "version": "1", "routes": [home, item], "redirects": [old],
  ]

  private static func route(_ name: Value, _ pattern: Value) -> Value {
    ["name": name, "pattern": pattern, "kind": "page"]
  }

  private static let changes = [
    TableChange(
      testDescription: "another name", routes: [route("product", "native://item/:id")],
      redirects: [old]),
    TableChange(
      testDescription: "another parameter", routes: [route("item", "native://item/:sku")],
      redirects: [old]),
    TableChange(
      testDescription: "another pattern", routes: [route("item", "native://:any/:id")]),
    TableChange(
      testDescription: "a redirect", routes: [product],
      redirects: [old, ["from": "native://item/:id", "to": "native://product/:id"]]),
    TableChange(
      testDescription: "another redirect", routes: [item, product],
      redirects: [["from": "native://old/:id", "to": "native://product/:id"]]),
    TableChange(
      testDescription: "a route instead of a redirect",
      routes: [item, route("old", "native://old/:id")]),
    TableChange(testDescription: "no route", routes: [], redirects: [old]),
    TableChange(testDescription: "neither route nor redirect", routes: []),
    TableChange(
      testDescription: "a closed scheme without the route", routes: [], isClosed: true,
      opensItem: false),
  ]

  @Test("an open page keeps its own URI", arguments: changes)
  func keepsURI(after change: TableChange) async throws {
    let router = Router()
    let table = try LiveTable(RouteTable(parsing: Self.firstTable), for: router)
    let bridge = InMemoryBridge(
      router, rules: try CompiledPolicy([Policy.Rule("all", .allow, ["*"])]), table: table)
    let (client, _) = try await WireClient.open(
      bridge, ["hosts": [["scheme": "native", "kind": "page"]]])
    let uris = ["native://home", "native://item/5", "native://old/6", "native://last"]
    var ids: [Value] = []
    for uri in uris {
      try await client.call(.string(uri), "router.open", ["uri": .string(uri)])
      ids.append(try #require(try await client.acceptPageOpen()["id"]))
      _ = try await client.nextRequest("$/progress")
    }
    let updated = try await client.request("table.update", ["table": change.table])
    #expect(updated["error"] == nil)
    for (uri, id) in zip(uris, ids) {
      let found = try await client.request("navigation.contains", ["uri": .string(uri)])
      #expect(found["result"]?["id"] == id, "\(uri)")
    }
    let other = try await client.request("navigation.contains", ["uri": "native://item/9"])
    #expect(other["result"] == .null)
    try await client.call(
      "again", "router.open", ["uri": "native://old/6?n=1", "style": "popTo"])
    if change.opensItem {
      let close = try await client.nextMessage()
      #expect(close["method"] == "page.close" && close["params"]?["page"] == ids[3])
      let resume = try await client.nextMessage()
      #expect(resume["method"] == "page.resume" && resume["params"]?["page"] == ids[2])
      #expect(resume["params"]?["params"]?["n"] == "1")
      let progress = try await client.nextMessage()
      #expect(progress["params"]?["value"]?["opened"]?["page"] == ids[2])
    } else {
      #expect(try await client.response("again")["error"]?["code"] == 2404)
    }
    let stack = try await client.request("navigation.stack")["result"]?["pages"]?.array
    #expect(stack?.compactMap { $0["id"] } == Array(ids[...(change.opensItem ? 2 : 3)]))
    let back = try await client.request("navigation.back", ["to": "native://item/5"])
    #expect(back["result"]?["page"] == ids[1])
    let before = try await client.request("navigation.back", ["before": "native://item/50"])
    #expect(before["error"]?["data"]?["kind"] == "notOnStack")
    let root = try await client.request("navigation.back", ["before": "NATIVE://Item/5/?x=1"])
    #expect(root["result"]?["page"] == ids[0])
  }

  @Test("exts.pop, from and selectTab accept references")
  func acceptsReferences() async throws {
    let router = Router()
    try router.page("native://home", name: "home")
    try router.page("native://item/:id", name: "item")
    try router.setTabs([RouteURI("native://home")])
    let (client, _) = try await WireClient.open(
      InMemoryBridge(router), ["hosts": [["scheme": "native", "kind": "page"]]])
    try await client.call(1, "router.open", ["uri": "native://home?tab", "style": "tab"])
    let home = try #require(try await client.acceptPageOpen()["id"])
    _ = try await client.nextRequest("$/progress")
    for reference: Value in ["native://home", "home", home] {
      let selected = try await client.request("navigation.selectTab", ["uri": reference])
      #expect(selected["result"]?["page"] == home, "\(reference)")
    }
    var openers: [Value?] = []
    let references: [Value] = [home, "native://home?x", "home", "native://none", "p99"]
    for (number, reference) in references.enumerated() {
      let pop: Value = number == 0 ? ["to": "native://home"] : ["to": "item"]
      try await client.call(
        .string("open \(number)"), "router.open",
        ["uri": "native://item/1", "from": reference, "exts": ["pop": pop]])
      openers.append(try await client.acceptPageOpen()["opener"])
      _ = try await client.nextRequest("$/progress")
    }
    #expect(openers == [home, home, home, nil, nil])
    let stack = try await client.request("navigation.stack")["result"]?["pages"]?.array
    #expect(stack?.count == 6)
  }
}
