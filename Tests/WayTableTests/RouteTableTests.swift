import Testing
import WayPatterns
import WayRouting
import WayTable
import WayValues

struct RouteTableTests {
  private let document: Value = [
    "$schema": "table.schema.json",
    "version": "7",
    "routes": [
      [
        "name": "address", "patterns": ["native://address/:id", "/old/:id"], "kind": "page",
        "title": "Address", "purpose": "Shows one.", "priority": 2,
        "strict": true, "groups": ["members"], "fallback": "https://h.x/a/:id",
        "parameters": [
          "id": ["type": "string"],
          "q": [
            "type": "string", "title": "t", "default": "a",
            "enum": ["a", "a+b"],
          ],
        ], "result": ["type": "object", "title": "t"],
      ],
      ["name": "share", "pattern": "action://share", "kind": "task"],
    ],
    "schemes": [
      "Flutter": ["closed": true, "undefined": "https://h.x/upgrade"], "native": ["closed": false],
    ],
    "redirects": [["from": "native://was/:id", "to": "native://address/:id"]],
    "plusIsSpace": false,
  ]

  @Test("parses a valid document")
  func parsesValidDocument() throws {
    let table = try RouteTable(parsing: document)
    #expect(table.version == "7")
    #expect(table.declarations.routes.map(\.name) == ["address", "share"])
    #expect(
      table.declarations.schemes == [
        SchemeDeclaration(
          name: "flutter", isClosed: true, undefinedTarget: try PatternTarget("https://h.x/upgrade")
        ),
        SchemeDeclaration(name: "native", isClosed: false, undefinedTarget: nil),
      ])
    #expect(
      table.declarations.redirects == [
        try Redirect(from: "native://was/:id", to: "native://address/:id")
      ])
    #expect(!table.declarations.plusIsSpace)
    let address = try #require(table.declarations.routes.first)
    #expect(address.patterns.map(\.text) == ["native://address/:id", "/old/:id"])
    #expect(address.kind == .page)
    #expect(address.title == "Address")
    #expect(address.purpose == "Shows one.")
    #expect(address.priority == 2)
    #expect(
      address.parameters == [
        ParameterDeclaration("id", .string),
        ParameterDeclaration("q", .string, title: "t", defaultValue: "a", allowed: ["a", "a+b"]),
      ])
    #expect(address.isStrict)
    #expect(address.groups == ["members"])
    #expect(address.fallback?.text == "https://h.x/a/:id")
    #expect(address.result == ValueSchema(.object, title: "t"))
    #expect(try RouteTable(parsing: ["version": "1", "routes": []]).declarations.plusIsSpace)
  }

  @Test("warns of an undefined target that a host of the whole scheme hides")
  func warnsOfHiddenUndefinedTarget() throws {
    func warnings(_ schemes: Value) throws -> [String] {
      try RouteTable(parsing: ["version": "1", "routes": [], "schemes": schemes]).warnings
        .map(\.description)
    }
    #expect(
      try warnings([
        "x": ["closed": true], "Flutter": ["undefined": "x://a"],
        "a+b": ["closed": false, "undefined": "x://a"],
        "native": ["closed": true, "undefined": "x://a"],
      ]) == [
        "$.schemes.Flutter.undefined: is not reached while a client hosts the whole scheme"
          + " \"flutter\", unless the client declines; add \"closed\": true, and such a client gets"
          + " declared routes only",
        "$.schemes['a+b'].undefined: is not reached while a client hosts the whole scheme \"a+b\","
          + " unless the client declines; add \"closed\": true, and such a client gets declared routes"
          + " only",
      ])
    #expect(try warnings([:]).isEmpty)
  }

  @Test("an applied table routes URIs")
  func appliedTableRoutesURIs() throws {
    let router = Router()
    try RouteTable(parsing: document).apply(to: router)
    let snapshot = router.snapshot()
    #expect(try route("native://address/7", in: snapshot) == "address")
    #expect(try route("native:/old/7", in: snapshot) == "address")
    #expect(try route("native://was/7", in: snapshot) == "address")
    #expect(snapshot.routes(inGroup: "members") == ["address"])
    #expect(try route("flutter:/old/7", in: snapshot) == nil)
    #expect(try route("action://share", in: snapshot) == "share")
    guard
      case .match(let match) = try snapshot.resolve(try RouteURI("native://address/7?q=a+b"))
    else {
      Issue.record("no match")
      return
    }
    #expect(match.params == ["q": "a+b", "id": "7"])
  }

  @Test("a table that conflicts with a registered route changes nothing")
  func conflictingTableChangesNothing() throws {
    let router = Router()
    try router.task("action://share", name: "mine") { _ in .null }
    let before = router.snapshot()
    #expect(throws: RouterConfigurationError.self) {
      try RouteTable(parsing: document).apply(to: router)
    }
    #expect(router.snapshot().routes.map(\.name) == before.routes.map(\.name))
    #expect(try route("native://address/7", in: router.snapshot()) == nil)
  }

  private func route(_ uri: String, in snapshot: RouterSnapshot) throws -> String? {
    switch try snapshot.resolve(try RouteURI(uri)) {
    case .match(let match): match.route.name
    default: nil
    }
  }
}
