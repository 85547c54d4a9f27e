import TestSupport
import Testing
import WayRPC
import WayTable
import WayTransport
import WayValues

@testable import WaySession

/// Parsing of policy documents, with each error and its path.
struct PolicyDocumentTests {
  @Test func parsesEveryField() throws {
    let policy = try Policy(parsing: [
      "$schema": "policy.schema.json", "hosts": ["app.example.org", "[::1]:8443"],
      "origins": ["https://*.shop.test", "null"],
      "rules": [
        [
          "name": "pages", "allow": ["router.*", "$/*"], "origins": ["https://a.test:*"],
          "groups": ["staff"], "subjects": ["anna"], "routes": ["cart", "native://a/:id", "/b"],
        ],
        ["name": "helpers", "allow": ["router.invoke"], "agents": ["desk", "*"]],
        ["name": "daemon", "allow": ["host.*"], "schemes": ["print"], "server": true],
        ["name": "none", "deny": ["*"], "routes": ["secret"]],
        ["name": "cart", "allow": ["events.*", "event"], "topics": ["cart.*", "user.changed"]],
      ],
    ])
    #expect(
      policy
        == Policy(
          hosts: ["app.example.org", "[::1]:8443"], origins: ["https://*.shop.test", "null"],
          rules: [
            Policy.Rule(
              "pages", .allow, ["router.*", "$/*"], origins: ["https://a.test:*"],
              groups: ["staff"], subjects: ["anna"], routes: ["cart", "native://a/:id", "/b"]),
            Policy.Rule("helpers", .allow, ["router.invoke"], agents: ["desk", "*"]),
            Policy.Rule("daemon", .allow, ["host.*"], schemes: ["print"], coversServer: true),
            Policy.Rule("none", .deny, ["*"], routes: ["secret"]),
            Policy.Rule(
              "cart", .allow, ["events.*", "event"], topics: ["cart.*", "user.changed"]),
          ]))
    #expect(try policy.compiled() != nil)
    let empty = try Policy(parsing: [:])
    #expect(empty == Policy())
    #expect(empty.rules == nil)
  }

  @Test(
    arguments: [
      ([], ["$: has to be an object; it is an array"]),
      (
        ["rule": [], "hosts": "a", "origins": nil, "rules": [:], "$schema": 1],
        [
          "$.rule: unknown member; did you mean \"rules\"? known here: $schema, hosts, origins, rules",
          "$['$schema']: has to be a string; it is 1",
          "$.hosts: has to be an array; it is a string",
          "$.origins: has to be an array; it is null",
          "$.rules: has to be an array; it is an object",
        ]
      ),
      (
        ["hosts": [], "origins": [], "rules": []],
        [
          "$.hosts: is empty; remove it", "$.origins: is empty; remove it",
          "$.rules: is empty, so no call would be allowed; remove it to allow all calls",
        ]
      ),
      (
        [
          "hosts": [
            "http://a", "a.test/x", "a.test.", "*.a.test", "a:b", "a:0", "u@a", "", 1, "a", "a",
          ]
        ],
        ["http://a", "a.test/x", "a.test.", "*.a.test", "a:b", "a:0", "u@a"].enumerated().map {
          "$.hosts[\($0)]: \"\($1)\" is not a host; use NAME or NAME:PORT, without a scheme or a path"
        } + [
          "$.hosts[7]: must not be empty", "$.hosts[8]: has to be a string; it is 1",
          "$.hosts[10]: \"a\" occurs twice; remove one",
        ]
      ),
      (
        ["origins": ["shop.test", "https://shop.test"]],
        ["$.origins[0]: \"shop.test\" is not an origin; use \(OriginPattern.expectedFormat)"]
      ),
    ] as [(Value, [String])])
  func reportsDocumentErrorsWithPath(document: Value, faults: [String]) {
    #expect(Self.faults(document) == faults)
  }

  @Test(
    arguments: [
      ("text", ["$.rules[0]: has to be an object; it is a string"]),
      (
        [:],
        [
          "$.rules[0]: the member \"name\" is missing",
          "$.rules[0]: a rule needs \"allow\" or \"deny\" with the methods that it applies to",
        ]
      ),
      (
        ["name": "r", "allow": ["*"], "deny": ["*"]],
        ["$.rules[0]: a rule has either \"allow\" or \"deny\", not both; split it into two rules"]
      ),
      (["name": "", "allow": ["*"]], ["$.rules[0].name: must not be empty"]),
      (
        ["name": .string(String(repeating: "n", count: 257)), "allow": ["*"]],
        ["$.rules[0].name: has 257 bytes; a name may have at most 256"]
      ),
      (
        ["name": "r", "allow": ["*"], "group": ["a"], "groups": "a"],
        [
          "$.rules[0].group: unknown member; did you mean \"groups\"? known here: name, allow, deny, origins, groups, "
            + "subjects, agents, routes, schemes, topics, server",
          "$.rules[0].groups: has to be an array; it is a string",
        ]
      ),
      (
        ["name": "r", "allow": []],
        ["$.rules[0].allow: is empty, so the rule applies to no method; use \"*\" for all methods"]
      ),
      (
        [
          "name": "r", "deny": ["*"], "origins": [], "groups": [], "subjects": [], "routes": [],
        ],
        ["origins", "groups", "subjects"].map {
          "$.rules[0].\($0): is empty, so the rule matches no caller; remove it to match all callers"
        } + [
          "$.rules[0].routes: is empty, so the rule matches no route; remove it to match all routes"
        ]
      ),
      (
        ["name": "r", "deny": ["*"], "schemes": []],
        [
          "$.rules[0].schemes: is empty, so the rule matches no host; remove it to match all schemes"
        ]
      ),
      (
        [
          "name": "r", "allow": ["*"], "origins": ["a", "null"], "routes": ["a", "/a/:", "b:c d"],
        ],
        [
          "$.rules[0].origins[0]: \"a\" is not an origin; use \(OriginPattern.expectedFormat)",
          "$.rules[0].routes[1]: pattern \"/a/:\", byte 3: a parameter is \":\" and a name",
          "$.rules[0].routes[2]: pattern \"b:c d\"",
        ]
      ),
      (
        ["name": "r", "allow": ["*"], "schemes": ["web", "a b", "web"]],
        [
          "$.rules[0].schemes[1]: \"a b\" is not a scheme: a letter, then letters, digits, \"+\", \"-\" "
            + "and \".\"",
          "$.rules[0].schemes[2]: \"web\" occurs twice; remove one",
        ]
      ),
      (
        ["name": "r", "allow": ["router.open"], "schemes": ["web"], "server": true],
        [
          "$.rules[0].schemes: the rule does not apply to host.register, the only method with schemes",
          "$.rules[0].server: the rule does not apply to host.register, the only method that has it",
        ]
      ),
      (
        ["name": "r", "deny": ["host.*"], "schemes": ["web"], "server": true],
        ["$.rules[0].server: a denial applies to hosts of every scope; remove it"]
      ),
      (
        ["name": "r", "allow": ["host.*"], "server": false],
        ["$.rules[0].server: must be true if present"]
      ),
      (
        ["name": "r", "allow": ["*"], "schemes": ["web"], "routes": ["a"]],
        ["$.rules[0]: no call has both a route and a scheme to register; split it into two rules"]
      ),
      (
        ["name": "r", "allow": ["events.*", "session.list"], "routes": ["a"]],
        [
          "$.rules[0].routes: the rule applies to none of the methods that have a route: router.open, "
            + "router.invoke, router.canOpen, router.explain, router.deliver, navigation.adopt, "
            + "navigation.selectTab, page.call, navigation.back, navigation.finish, "
            + "navigation.stack, navigation.contains"
        ]
      ),
      (
        ["name": "r", "allow": ["events.*"], "topics": ["a b", "page.*", "a*b", "a", "a", ""]],
        [
          "$.rules[0].topics[0]: \"a b\" may hold ASCII letters, digits",
          "$.rules[0].topics[1]: topics that begin with \"page.\" are the server's; no client "
            + "publishes them",
          "$.rules[0].topics[2]: \"a*b\" may hold ASCII letters, digits",
          "$.rules[0].topics[4]: \"a\" occurs twice; remove one",
          "$.rules[0].topics[5]: must not be empty",
        ]
      ),
      (
        ["name": "r", "allow": ["events.subscribe"], "topics": ["a"], "routes": []],
        [
          "$.rules[0].routes: is empty, so the rule matches no route; remove it to match all routes",
          "$.rules[0].routes: the rule applies to none of the methods that have a route",
          "$.rules[0].topics: the rule applies to neither events.publish nor event, the methods that "
            + "have a topic",
          "$.rules[0]: no event has a route or a scheme; split it into two rules",
        ]
      ),
      (["name": "r", "deny": ["*"], "topics": []], ["$.rules[0].topics: is empty"]),
      (
        ["name": "r", "deny": ["session.open"]],
        [
          "$.rules[0].deny[0]: session.open is not checked against rules; use \"hosts\", "
            + "\"origins\" or tokens to reject clients"
        ]
      ),
    ] as [(Value, [String])])
  func reportsRuleErrorsWithPath(rule: Value, faults: [String]) {
    let found = Self.faults(["rules": [rule]])
    #expect(found.count == faults.count)
    for (found, expected) in zip(found, faults) {
      #expect(found.hasPrefix(expected), "\(found)")
    }
  }

  @Test(
    arguments: [
      ("router.open", nil), ("router.*", nil), ("*", nil), ("rout*", nil), ("$/*", nil),
      ("session.push", nil), ("event", nil), ("event*", nil),
      // Methods of an app, and those of `--conformance`.
      ("echo", nil), ("shop.buy", nil), ("shop.*", nil), ("redraw", nil),
      ("evnt", "there is no method \"evnt\"; did you mean event?"),
      ("router.opne", "there is no method \"router.opne\"; did you mean router.open?"),
      ("router.canopen", "there is no method \"router.canopen\"; did you mean router.canOpen?"),
      ("routr.open", "there is no method \"routr.open\"; did you mean router.open?"),
      ("route.*", "no method begins with \"route.\"; did you mean router.*?"),
      (
        "router.x*",
        "no method begins with \"router.x\"; known methods: router.invoke, router.open, "
          + "router.canOpen, router.explain, router.routes, router.deliver"
      ),
      (
        "host.everything",
        "there is no method \"host.everything\"; known methods: host.register, "
          + "host.unregister"
      ),
      ("task.run", "there is no method \"task.run\"; rpc.discover lists the methods"),
      ("*.open", "\"*\" may only be at the end of a name, not as in \"*.open\""),
      ("router.**", "\"*\" may only be at the end of a name, not as in \"router.**\""),
    ] as [(String, String?)])
  func suggestsNearestMethodForUnknownName(method: String, fault: String?) {
    let found = Self.faults(["rules": [["name": "r", "allow": [.string(method)]]]])
    #expect(found == (fault.map { ["$.rules[0].allow[0]: \($0)"] } ?? []))
  }

  @Test(arguments: ["default", "permissions", "invitation", "identity", "allow"])
  func rejectsReservedRuleNames(name: String) {
    let found = Self.faults(["rules": [["name": .string(name), "allow": ["*"]]]])
    #expect(
      found == [
        "$.rules[0].name: \"\(name)\" is reserved for decisions without a rule; choose another name"
      ])
  }

  @Test func rejectsDuplicateRuleNames() {
    let rule: Value = ["name": "r", "allow": ["*"]]
    #expect(
      Self.faults(["rules": [rule, rule]]) == [
        "$.rules[1].name: \"r\" is already the name of $.rules[0]; names must be unique"
      ])
  }

  @Test func limitsRulesAndEntries() {
    let rules = (0...1000).map { number -> Value in
      ["name": .string("r\(number)"), "allow": ["*"]]
    }
    #expect(Self.faults(["rules": .array(Array(rules.dropLast()))]) == [])
    #expect(
      Self.faults(["rules": .array(rules)]) == [
        "$.rules: has 1001 rules; a policy may have at most 1000"
      ])
    let groups = (0...1000).map { Value.string("g\($0)") }
    #expect(
      Self.faults(["rules": [["name": "r", "allow": ["*"], "groups": .array(groups)]]]) == [
        "$.rules[0].groups: has 1001 entries; at most 1000 are allowed"
      ])
  }

  @Test func schemaListsExactlyTheParsedFields() throws {
    let schema = try ProjectFiles.json("protocol/schema/policy.schema.json")
    let places: [(Value?, Value)] = [
      (schema["properties"], ["?": 1]),
      (schema["$defs"]?["rule"]?["properties"], ["rules": [["?": 1]]]),
    ]
    for (properties, document) in places {
      let names = try #require(properties?.object).members.map(\.name)
      let fault = try #require(Self.faults(document).first { $0.contains("unknown member") })
      #expect(fault.hasSuffix("known here: " + names.joined(separator: ", ")))
    }
  }

  private static func faults(_ document: Value) -> [String] {
    do {
      _ = try Policy(parsing: document)
      return []
    } catch {
      return error.faults.map(\.description)
    }
  }
}
