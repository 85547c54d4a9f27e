import Testing
import WayPatterns
import WayRPC
import WayRouting
import WayTable
import WayValues

@testable import WayAgents

struct AgentToolTests {
  /// The table that the tests use.
  static func snapshot(_ routes: Value) throws -> RouterSnapshot {
    let router = Router()
    let table: Value = [
      "version": "1",
      "types": [
        "Money": [
          "type": "object", "title": "Money",
          "properties": ["cents": ["type": "integer"], "of": ["$ref": "#/types/Currency"]],
          "required": ["cents"], "additionalProperties": false,
        ],
        "Currency": ["type": "string", "enum": ["EUR", "USD"]],
      ],
      "routes": routes,
    ]
    try RouteTable(parsing: table).apply(to: router)
    return router.snapshot()
  }

  static func tool(_ route: Value) throws -> AgentTool {
    try #require(AgentToolTable(try snapshot([route])).tools.first)
  }

  private func listed(_ tool: AgentTool, _ revision: MCPRevision = .stateless) throws -> Value {
    try #require(try AgentToolList([tool]).page(after: nil, for: revision).tools.first)
  }

  @Test("a tool has the schemas of its route, with each named type once")
  func describesRoute() throws {
    let tool = try Self.tool([
      "name": "cartAdd", "pattern": "action://cart/:id", "kind": "task", "title": "Add to the cart",
      "purpose": "Adds an article.", "agents": ["idempotent": true], "strict": true,
      "parameters": [
        "id": ["type": "integer"], "count": ["type": "integer", "minimum": 1, "default": 1],
        "price": ["$ref": "#/types/Money", "title": "Price"], "was": ["$ref": "#/types/Money"],
      ],
      "required": ["price"],
      "result": ["type": "object", "properties": ["total": ["$ref": "#/types/Money"]]],
    ])
    let money: Value = [
      "type": "object", "title": "Price",
      "properties": ["cents": ["type": "integer"], "of": ["$ref": "#/$defs/Currency"]],
      "required": ["cents"], "additionalProperties": false,
    ]
    let currency: Value = ["type": "string", "enum": ["EUR", "USD"]]
    var original = try #require(money.object)
    original["title"] = "Money"
    let expected: Value = [
      "name": "cartAdd", "title": "Add to the cart", "description": "Adds an article.",
      "inputSchema": [
        "type": "object",
        "properties": [
          "id": ["type": "integer"], "count": ["type": "integer", "minimum": 1, "default": 1],
          "price": ["$ref": "#/$defs/Money"], "was": ["$ref": "#/$defs/Money", "title": "Money"],
          "session": [
            "type": "string",
            "description":
              "The id of the app's session in which to call the tool. Leave it out for the newest.",
          ],
        ],
        "required": ["id", "price"], "additionalProperties": false,
        "$defs": ["Money": money, "Currency": currency],
      ],
      "outputSchema": [
        "type": "object", "properties": ["total": ["$ref": "#/$defs/Money"]],
        "$defs": ["Money": .object(original), "Currency": currency],
      ],
      "annotations": [
        "readOnlyHint": false, "destructiveHint": true, "idempotentHint": true,
      ],
    ]
    #expect(try listed(tool) == expected)
  }

  @Test(
    "which routes are tools",
    arguments: [
      (["name": "a", "pattern": "action://a", "kind": "task", "agents": [:]], true),
      (
        [
          "name": "a", "pattern": "service://Prices/a", "kind": "service",
          "agents": ["readOnly": true],
        ],
        true
      ),
      (["name": "a", "pattern": "action://a", "kind": "task"], false),
      (["name": "a", "pattern": "/a", "kind": "task", "agents": [:]], false),
      (["name": "a", "patterns": ["/a", "action://a"], "kind": "task", "agents": [:]], true),
      (
        [
          "name": "a", "pattern": "native://a", "kind": "page", "result": ["type": "string"],
          "agents": [:],
        ],
        true
      ),
    ] as [(Value, Bool)])
  func choosesRoutes(_ route: Value, _ isTool: Bool) throws {
    #expect(AgentToolTable(try Self.snapshot([route])).tools.isEmpty != isTool)
  }

  @Test("a parameter that only a pattern names is an argument, and needed if each form has it")
  func declaresCapturedParameters() throws {
    let tool = try Self.tool([
      "name": "show", "pattern": "action://show/:id(/part/:part)/*", "kind": "task", "agents": [:],
    ])
    let schema = try listed(tool)["inputSchema"]
    #expect(
      schema?["properties"]?["*"] == ["type": "array", "items": ["type": "string"]])
    #expect(schema?["properties"]?["part"] == ["type": "string"])
    #expect(schema?["required"] == ["id", "*"])
    #expect(schema?["additionalProperties"] == nil)
  }

  @Test("arguments become a URI and parameters of the call")
  func makesCalls() throws {
    let tool = try Self.tool([
      "name": "show", "pattern": "action://show/:id(/part/:part)", "kind": "task", "agents": [:],
      "parameters": ["id": ["type": "integer"], "session": ["type": "string"]],
    ])
    #expect(tool.sessionArgument == "session_")
    func call(_ arguments: ValueObject) throws -> AgentToolCall {
      try tool.call(MCPToolCall(name: "show", arguments: arguments, key: "k"))
    }
    let plain = try call(["id": 7, "session": "x", "note": "n", "session_": "s1"])
    #expect(plain.uri.text == "action://show/7")
    #expect(plain.params == ["id": 7, "session": "x", "note": "n"])
    #expect(plain.session == "s1")
    #expect(plain.key == "k")
    #expect(plain.method == "router.invoke")
    #expect(try call(["id": 7, "part": "a/b"]).uri.text == "action://show/7/part/a%2Fb")
    #expect(throws: PatternParameterError.self) { try call([:]) }
    #expect(throws: PatternParameterError.self) { try call(["id": ["x": 1]]) }
    #expect(throws: PatternParameterError.self) { try call(["id": 7, "session_": 3]) }
  }

  @Test("arguments that lead to another route are found")
  func findsOtherRoutes() throws {
    let snapshot = try Self.snapshot([
      ["name": "item", "pattern": "action://item/:id", "kind": "task", "agents": [:]],
      ["name": "secret", "pattern": "action://item/secret", "kind": "task"],
    ])
    let tool = try #require(AgentToolTable(snapshot).tool(named: "item"))
    func leads(_ id: Value) throws -> Bool {
      try tool.call(MCPToolCall(name: "item", arguments: ["id": id], key: nil))
        .leadsToTool(in: snapshot, for: nil)
    }
    #expect(try leads("a"))
    #expect(try !leads("secret"))
    #expect((try? leads("..")) != true)
  }

  @Test(
    "an example of each kind of parameter leads to its route",
    arguments: [
      ["type": "integer", "minimum": 5], ["type": "string", "minLength": 9],
      ["type": "string", "format": "date"], ["type": "string", "enum": ["a", "b"]],
      ["type": "boolean"], ["type": "number", "maximum": -2], ["type": "string", "format": "uuid"],
      ["type": "string"],
    ] as [Value])
  func makesExamples(_ schema: Value) throws {
    let snapshot = try Self.snapshot([
      [
        "name": "show", "pattern": "action://show/:id", "kind": "task", "agents": [:],
        "parameters": ["id": schema], "required": ["id"],
      ]
    ])
    let uri = try #require(AgentToolTable(snapshot).tools.first?.exampleURI)
    guard case .match(let match) = try snapshot.resolve(uri, checking: false) else {
      Issue.record("\(uri.text) leads to no route")
      return
    }
    #expect(match.fitsTypes)
  }

  @Test(
    "the names of tools are valid and differ",
    arguments: [
      "cartAdd", "cart.add-2_x", "", "Übung", "a b", "a/b", "a_b", "search", "describe", "search2",
      String(repeating: "x", count: 64), String(repeating: "x", count: 65),
      String(repeating: "x", count: 66),
    ])
  func makesNames(_ route: String) {
    let name = AgentToolName(ofRoute: route).text
    let isKept = ["cartAdd", "cart.add-2_x", "a_b", "search2", String(repeating: "x", count: 64)]
      .contains(route)
    #expect((name == route) == isKept)
    #expect((1...64).contains(name.utf8.count))
    #expect(name.wholeMatch(of: /[A-Za-z0-9_.\-]+/) != nil)
    for other in ["a/b", "a b", "a_b", String(repeating: "x", count: 65)] where other != route {
      #expect(AgentToolName(ofRoute: other).text != name)
    }
  }
}
