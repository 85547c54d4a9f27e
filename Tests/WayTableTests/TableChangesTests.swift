import Testing
import WayTable
import WayValues

struct TableChangesTests {
  private static let base: ValueObject = [
    "version": "1",
    "types": ["Address": ["type": "object", "properties": ["id": ["type": "string"]]]],
    "topics": ["cart.changed": ["data": ["type": "object"]], "gone": [:]],
    "routes": [
      ["name": "home", "pattern": "native://home", "kind": "page"],
      [
        "name": "address", "pattern": "native://address/:id", "kind": "page",
        "result": ["$ref": "#/types/Address"],
      ],
      ["name": "é", "pattern": "native://é", "kind": "page"],
    ],
    "redirects": [["from": "native://was", "to": "native://home"]],
    "tabs": ["native://home"],
  ]

  private func table(_ change: (inout ValueObject) -> Void) throws -> RouteTable {
    var document = Self.base
    change(&document)
    return try RouteTable(parsing: .object(document))
  }

  private func routes(_ change: (inout [Value]) -> Void) throws -> RouteTable {
    try table { document in
      var routes = document["routes"]?.array ?? []
      change(&routes)
      document["routes"] = .array(routes)
    }
  }

  private func changes(_ new: RouteTable) throws -> TableChanges {
    TableChanges(from: try RouteTable(parsing: .object(Self.base)), to: new)
  }

  @Test("ignores another version, order or spelling")
  func ignoresVersionOrderAndSpelling() throws {
    let new = try table { document in
      document["version"] = "2"
      document["routes"] = .array((document["routes"]?.array ?? []).reversed())
      document["plusIsSpace"] = true
      document["actions"] = [:]
    }
    #expect(try changes(new).isEmpty)
  }

  @Test("reports changed routes by name, in table order")
  func reportsRouteChangesByName() throws {
    let new = try routes { routes in
      routes[0] = ["name": "home", "pattern": "native://home", "kind": "task"]
      routes[2] = ["name": "e\u{301}", "pattern": "native://x", "kind": "page"]
      routes.append(["name": "last", "pattern": "native://last", "kind": "page"])
    }
    let found = try changes(new)
    #expect(found.added == ["e\u{301}", "last"])
    #expect(found.added.first?.utf8.count == 3)
    #expect(found.removed == ["é"])
    #expect(found.changed == ["home"])
    #expect(!found.isEmpty)
  }

  @Test(
    "compares every member of a route",
    arguments: [
      ("title", "Home"), ("purpose", "The first."), ("priority", 1), ("strict", true),
      ("groups", ["a"]), ("permissions", ["a"]), ("fallback", "https://h.x/"),
      ("parents", ["native://address/1"]), ("presentation", ["style": "root"]),
      ("release", ["share": 0.5]), ("parameters", ["a": ["type": "string"]]),
      ("result", ["type": "string"]), ("methods", ["scroll": [:]]),
    ] as [(String, Value)])
  func comparesEveryRouteMember(name: String, value: Value) throws {
    let new = try routes { routes in
      var home = routes[0].object ?? [:]
      home[name] = value
      routes[0] = .object(home)
    }
    #expect(try changes(new).changed == ["home"])
  }

  @Test("a route changes with its hints for agents")
  func comparesHintsForAgents() throws {
    func table(_ agents: Value?) throws -> RouteTable {
      var route: ValueObject = ["name": "add", "pattern": "action://add", "kind": "task"]
      route["agents"] = agents
      return try RouteTable(parsing: ["version": "1", "routes": [.object(route)]])
    }
    for (old, new): (Value?, Value?) in [
      (.none, [:]), (["readOnly": true], [:]), ([:], ["destructive": false]),
      ([:], ["idempotent": true]),
    ] {
      #expect(TableChanges(from: try table(old), to: try table(new)).changed == ["add"])
    }
    #expect(TableChanges(from: try table([:]), to: try table(["destructive": true])).isEmpty)
  }

  @Test("a route changes with the named type that it uses")
  func reportsRoutesThatUseChangedTypes() throws {
    let new = try table {
      $0["types"] = ["Address": ["type": "object", "properties": ["id": ["type": "integer"]]]]
    }
    let found = try changes(new)
    #expect(found.changed == ["address"])
    #expect(found.otherMembers == ["types"])
  }

  @Test("reports redirects, topics and other members by name")
  func reportsRedirectsTopicsAndOtherMembers() throws {
    let new = try table { document in
      document["redirects"] = [
        ["from": "native://was", "branches": [["to": "native://home", "share": 0.5]]],
        ["from": "native://new", "to": "native://home"],
      ]
      document["topics"] = ["cart.changed": ["data": ["type": "array"]], "new": [:]]
      document["tabs"] = []
      document["groups"] = [:]
      document["permissions"] = ["staff": "People of the shop"]
      document["schemes"] = ["native": ["closed": true]]
      document["actions"] = ["open": nil]
      document["plusIsSpace"] = false
    }
    let found = try changes(new)
    #expect(found.redirects == ["native://was", "native://new"])
    #expect(found.topics == ["gone", "cart.changed", "new"])
    #expect(
      found.otherMembers == ["groups", "permissions", "schemes", "tabs", "actions", "plusIsSpace"])
  }

  @Test("compares with a missing table")
  func comparesWithMissingTable() throws {
    let table = try RouteTable(parsing: .object(Self.base))
    let found = TableChanges(from: nil, to: table)
    #expect(found.added == ["home", "address", "é"])
    #expect(TableChanges(from: table, to: nil).removed == found.added)
    #expect(TableChanges(from: nil, to: nil).isEmpty)
    #expect(
      found.value == [
        "added": ["home", "address", "é"], "removed": [], "changed": [],
        "redirects": ["native://was"], "topics": ["cart.changed", "gone"],
        "other": ["types", "tabs"],
      ])
  }
}
