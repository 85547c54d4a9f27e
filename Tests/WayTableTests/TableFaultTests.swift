import Testing
import WayNavigation
import WayRouting
import WayTable
import WayValues

private let schemaMembers =
  "$ref, type, title, enum, format, minLength, maxLength, minimum, maximum, items, minItems,"
  + " maxItems, properties, required, additionalProperties"

struct TableFaultTests {
  @Test(
    "reports a fault with its path and its remedy",
    arguments: [
      ([1], ["$: has to be an object; it is an array"]),
      (
        [:],
        ["$: the member \"version\" is missing", "$: the member \"routes\" is missing"]
      ),
      (
        ["version": 1, "routes": nil],
        ["$.version: has to be a string; it is 1", "$.routes: has to be an array; it is null"]
      ),
      (["version": "", "routes": []], ["$.version: must not be empty"]),
      (
        [
          "version": "1", "groups": ["account": "Needs a login"],
          "routes": [["name": "orders", "pattern": "native://orders", "kind": "page"]],
          "gates": [
            "a": ["opens": "native://login", "routes": ["order"], "groups": ["accounts"]],
            "b": ["opens": "login", "style": "modal", "passes": ["type": "text"]],
            "c": ["groups": ["account"], "params": 1, "open": true], "": 7,
          ],
        ],
        [
          "$.gates.a.routes: \"order\" is not known; did you mean \"orders\"? known here: orders",
          "$.gates.a.groups: \"accounts\" is not known; did you mean \"account\"? known here: account",
          "$.gates.b: needs the routes or the groups to which the gate leads",
          "$.gates.b.style: \"modal\" is not known; known here: push, present, replace, root, popTo,"
            + " dismissThenPush, tab",
          "$.gates.b.passes.type: \"text\" is not known; known here: string, integer, number, boolean,"
            + " array, object",
          "$.gates.b.opens: \"login\" has no scheme; write the complete URI",
          "$.gates.c.open: unknown member; did you mean \"opens\"? known here: title, purpose, opens,"
            + " params, style, passes, routes, groups",
          "$.gates.c.params: has to be an object; it is 1",
          "$.gates.c: the member \"opens\" is missing",
          "$.gates['']: has to be an object; it is 7",
        ]
      ),
      (
        [
          "version": "1",
          "routes": [
            ["name": "a", "pattern": "/a", "kind": "page", "agents": ["safe": true]],
            [
              "name": "b", "pattern": "/b", "kind": "task",
              "agents": ["readOnly": true, "destructive": true],
            ],
            ["name": "c", "pattern": "/c", "kind": "task", "agents": true],
          ],
        ],
        [
          "$.routes[0].agents.safe: unknown member; known here: readOnly, destructive, idempotent",
          "$.routes[0].agents: a page is a tool for agents only if the route declares a \"result\"",
          "$.routes[1].agents.destructive: a route that is \"readOnly\" cannot be \"destructive\"",
          "$.routes[2].agents: has to be an object; it is true",
        ]
      ),
      (
        ["version": "1", "routes": [], "route": 1, "plus is'": 2],
        [
          "$.route: unknown member; did you mean \"routes\"? known here: $schema, version, types,"
            + " groups, permissions, topics, routes, gates, redirects, schemes, plusIsSpace, tabs, actions",
          "$['plus is\\'']: unknown member; known here: $schema, version, types,"
            + " groups, permissions, topics, routes, gates, redirects, schemes, plusIsSpace, tabs, actions",
        ]
      ),
      (
        ["version": "1", "routes": [], "plusIsSpace": "no", "$schema": 7],
        [
          "$['$schema']: has to be a string; it is 7",
          "$.plusIsSpace: has to be true or false; it is a string",
        ]
      ),
      (
        [
          "version": "1", "routes": [],
          "schemes": ["a b": ["closed": 1], "X": true, "y": [:], "Y": ["open": 1]],
        ],
        [
          "$.schemes['a b']: \"a b\" is not a scheme: a letter, then letters, digits, \"+\", \"-\" and \".\"",
          "$.schemes['a b'].closed: has to be true or false; it is 1",
          "$.schemes.X: has to be an object; it is true",
          "$.schemes.Y: \"y\" occurs twice; schemes ignore case",
          "$.schemes.Y.open: unknown member; known here: closed, undefined",
        ]
      ),
    ] as [(Value, [String])])
  func reportsDocumentFaultsWithPath(_ document: Value, _ faults: [String]) {
    #expect(parsingFaults(document) == faults)
  }

  @Test(
    "reports a fault in a route with its path",
    arguments: [
      ("text", ["$.routes[0]: has to be an object; it is a string"]),
      (
        [:],
        [
          "$.routes[0]: the member \"name\" is missing",
          "$.routes[0]: a route needs \"pattern\" or \"patterns\"",
          "$.routes[0]: the member \"kind\" is missing",
        ]
      ),
      (
        ["name": "r", "pattern": "/r", "patterns": ["/s"], "kind": "page"],
        ["$.routes[0]: a route has either \"pattern\" or \"patterns\", not both"]
      ),
      (
        ["name": "r", "patterns": [], "kind": "page"],
        ["$.routes[0].patterns: needs at least one pattern"]
      ),
      (
        ["name": "r", "patterns": "/r", "kind": "page"],
        ["$.routes[0].patterns: has to be an array; it is a string"]
      ),
      (
        ["name": "r", "patterns": ["/r", 3, ""], "kind": "page"],
        [
          "$.routes[0].patterns[1]: has to be a string; it is 3",
          "$.routes[0].patterns[2]: must not be empty",
        ]
      ),
      (
        ["name": "r", "pattern": "/r", "kind": "Page"],
        [
          "$.routes[0].kind: \"Page\" is not known; did you mean \"page\"? known here: page, task, service"
        ]
      ),
      (
        [
          "name": "r", "pattern": "/r", "kind": "page", "priority": 1.5, "title": 1, "purpose": nil,
        ],
        [
          "$.routes[0].priority: has to be an integer of 64 bits; it is 1.5",
          "$.routes[0].title: has to be a string; it is 1",
          "$.routes[0].purpose: has to be a string; it is null",
        ]
      ),
      (
        [
          "name": "r", "pattern": "/r", "kind": "page",
          "parameters": ["a": "string", "b-c": ["type": "text"], "d": ["title": ""]],
          "result": ["type": "object", "required": true], "required": ["a", "x"],
        ],
        [
          "$.routes[0].required: \"x\" is not declared here; declare it, or remove it",
          "$.routes[0].parameters.a: has to be an object; it is a string",
          "$.routes[0].parameters['b-c'].type: \"text\" is not known;"
            + " known here: string, integer, number, boolean, array, object",
          "$.routes[0].parameters.d.title: must not be empty",
          "$.routes[0].parameters.d: the member \"type\" is missing",
          "$.routes[0].result.required: has to be an array; it is true",
        ]
      ),
      (
        [
          "name": "r", "pattern": "/r", "kind": "page", "strict": 1, "required": ["a"],
          "parameters": [
            "a": ["type": "integer", "default": 1],
            "b": ["type": "integer", "default": "1"], "c": ["type": "string", "enum": []],
            "d": ["type": "string", "enum": ["x"], "default": "y"],
            "e": ["type": "array", "enum": "x"],
            "f": ["type": "string", "in": 1],
            "g": ["type": "number", "enum": [1, 2.5], "default": 2.5],
          ],
        ],
        [
          "$.routes[0].parameters.a: a required parameter must not have a default",
          "$.routes[0].parameters.b: a default or allowed value has to be an integer; it is a string",
          "$.routes[0].parameters.c: no value is allowed",
          "$.routes[0].parameters.d: the default is not one of the allowed values",
          "$.routes[0].parameters.e.enum: has to be an array; it is a string",
          "$.routes[0].parameters.f.in: unknown member; known here: \(schemaMembers), default",
          "$.routes[0].strict: has to be true or false; it is 1",
        ]
      ),
      (
        [
          "name": "r", "patterns": ["/r/:id", "/r"], "kind": "page", "groups": ["a", "", 1, "a"],
          "fallback": "https://h.x/:id",
        ],
        [
          "$.routes[0].groups[1]: must not be empty",
          "$.routes[0].groups[2]: has to be a string; it is 1",
          "$.routes[0].groups[3]: \"a\" occurs twice; remove one",
          "$.routes[0].fallback: needs \":id\", which \"/r\" does not capture, or only with an optional group",
        ]
      ),
      (
        ["name": "r", "pattern": "/r", "kind": "page", "fallback": "/s", "groups": "a"],
        [
          "$.routes[0].groups: has to be an array; it is a string",
          "$.routes[0].fallback: pattern \"/s\", byte 0: a target begins with a scheme and has no optional groups",
        ]
      ),
      (
        ["name": "r", "pattern": "/r", "kind": "page", "parameters": []],
        ["$.routes[0].parameters: has to be an object; it is an array"]
      ),
      (
        ["name": "r", "pattern": "/r", "kind": "page", "parent": "x"],
        [
          "$.routes[0].parent: unknown member; did you mean \"parents\"? known here: name, pattern, patterns, kind, title,"
            + " purpose, priority, parameters, required, strict, result, groups, permissions,"
            + " fallback, parents, presentation, release, methods, agents"
        ]
      ),
    ] as [(Value, [String])])
  func reportsRouteFaultsWithPath(_ route: Value, _ faults: [String]) {
    #expect(parsingFaults(["version": "1", "routes": [route]]) == faults)
  }

  @Test(
    "reports a fault in a redirect with its path",
    arguments: [
      ("text", ["$.redirects: has to be an array; it is a string"]),
      (
        [1, ["from": "/a", "too": "/b"]],
        [
          "$.redirects[0]: has to be an object; it is 1",
          "$.redirects[1].too: unknown member; did you mean \"to\"? known here: from, to, branches",
          "$.redirects[1]: \"to\" or \"branches\" is missing",
        ]
      ),
      (
        [
          ["from": "/a/:x", "to": "n://b"], ["from": "/a/:y", "to": "n://b/:y"],
          ["from": "/b", "to": "n://b/:z"], ["from": "b", "to": "n:// ?q"],
        ],
        [
          "$.redirects[1].from: \"/a/:y\" matches the same URIs as $.redirects[0]; remove one",
          "$.redirects[2].to: pattern \"n://b/:z\", byte 0: \":z\" is not captured by \"/b\", or only with an optional group",
          "$.redirects[3].from: pattern \"b\", byte 0: begin with \"/\" for any scheme, or with a scheme: \"native://…\"",
          "$.redirects[3].to: pattern \"n:// ?q\", byte 4: the byte 0x20 is not allowed at byte 4; percent-encode it",
        ]
      ),
    ] as [(Value, [String])])
  func reportsRedirectFaultsWithPath(_ redirects: Value, _ faults: [String]) {
    #expect(parsingFaults(["version": "1", "routes": [], "redirects": redirects]) == faults)
  }

  @Test(
    "describes the first errors and lists the first names that are known",
    arguments: [32, 33, 2_000])
  func describesFirstErrors(count: Int) {
    let names = (0..<count).map { "group \($0)" }
    let faults = parsingFaults([
      "version": "1", "groups": .object(ValueObject(names.map { ($0, "a group") })),
      "routes": .array(
        names.map { name in
          [
            "name": .string(name), "pattern": .string("native://p/\(name.filter(\.isNumber))"),
            "kind": "page",
            "groups": [.string("x" + name)],
          ]
        }),
    ])
    #expect(faults.count == min(count, 33))
    #expect(
      faults[0].contains(
        "\"xgroup 0\" is not known; did you mean \"group 0\"? known here: group 0, "))
    #expect(
      faults[0].hasSuffix(count > 32 ? "group 31 and \(count - 32) more" : "group 30, group 31"))
    if count > 32 {
      #expect(faults[32] == "$.routes[32].groups: is wrong too; errors after it are not listed")
    }
  }

  @Test("the target of a scheme cannot have parameters")
  func rejectsParametersInSchemeTarget() {
    let faults = parsingFaults([
      "version": "1", "routes": [],
      "schemes": ["a": ["undefined": "a://b/:id"], "b": ["undefined": 1]],
    ])
    #expect(
      faults == [
        "$.schemes.a.undefined: pattern \"a://b/:id\", byte 0: \":id\" has no value here; the target gets the URI as"
          + " the parameter \"uri\"",
        "$.schemes.b.undefined: has to be a string; it is 1",
      ])
  }

  @Test("reports an invalid pattern at its path")
  func reportsPatternErrorAtItsPath() throws {
    let faults = parsingFaults([
      "version": "1",
      "routes": [["name": "r", "patterns": ["/ok", "/a/:x/:x"], "kind": "page"]],
    ])
    let fault = try #require(faults.first)
    #expect(faults.count == 1)
    #expect(fault.hasPrefix("$.routes[0].patterns[1]: ") && fault.contains(":x"))
  }

  @Test("reports a duplicate name at the second route")
  func rejectsDuplicateRouteNames() {
    let document: Value = [
      "version": "1",
      "routes": [
        ["name": "r", "pattern": "/a", "kind": "page"],
        ["name": "r", "pattern": "/b", "kind": "page"],
      ],
    ]
    #expect(
      parsingFaults(document) == [
        "$.routes[1].name: \"r\" is already the name of $.routes[0]; names must be unique"
      ])
  }

  @Test(
    "two patterns of one shape conflict",
    arguments: [
      ("/a/:x", "/a/:y", 0, true),
      ("/a", "/a/", 0, true),
      ("Native://Address/x", "native://address/x", 0, true),
      ("/%61", "/a", 0, true),
      ("/a/:x", "/a/:y", 1, false),
      ("/a/:x", "/a/x", 0, false),
      ("/a", "/A", 0, false),
      ("native://a/b", "native:/a/b", 0, false),
      ("native://a", "flutter://a", 0, false),
      ("/a", "native:/a", 0, false),
    ])
  func rejectsPatternsOfSameShape(
    _ first: String, _ second: String, _ priority: Int64, _ clash: Bool
  ) {
    let document: Value = [
      "version": "1",
      "routes": [
        ["name": "r", "pattern": "/unlike", "kind": "page"],
        ["name": "s", "patterns": ["/other", .string(first)], "kind": "page"],
        ["name": "t", "pattern": .string(second), "kind": "page", "priority": .integer(priority)],
      ],
    ]
    let fault =
      "$.routes[2].pattern: \"\(second)\" matches the same URIs as $.routes[1].patterns[1],"
      + " both with priority \(priority); change one pattern or one priority"
    #expect(parsingFaults(document) == (clash ? [fault] : []))
  }

  private func parsingFaults(_ document: Value) -> [String] {
    do {
      _ = try RouteTable(parsing: document)
      return []
    } catch {
      return error.faults.map(\.description)
    }
  }
}
