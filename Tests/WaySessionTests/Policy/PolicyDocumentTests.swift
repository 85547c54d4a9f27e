import TestSupport
import Testing
import WayRPC
import WayTable
import WayTransport
import WayValues

@testable import WaySession

/// The document of a policy: what it says, and each fault with its place.
struct PolicyDocumentTests {
  @Test func everyMemberIsRead() throws {
    let policy = try Policy(parsing: [
      "$schema": "policy.schema.json", "hosts": ["app.example.org", "[::1]:8443"],
      "origins": ["https://*.shop.test", "null"],
      "rules": [
        [
          "name": "pages", "allow": ["router.*", "$/*"], "origins": ["https://a.test:*"],
          "groups": ["staff"], "subjects": ["anna"], "routes": ["cart", "native://a/:id", "/b"],
        ],
        ["name": "daemon", "allow": ["host.*"], "schemes": ["print"], "server": true],
        ["name": "none", "deny": ["*"], "routes": ["secret"]],
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
            Policy.Rule("daemon", .allow, ["host.*"], schemes: ["print"], coversServer: true),
            Policy.Rule("none", .deny, ["*"], routes: ["secret"]),
          ]))
    #expect(try policy.rulebook() != nil)
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
          "$.rule: unknown member; did you mean 'rules'? known here: $schema, hosts, origins, rules",
          "$['$schema']: has to be a string; it is 1",
          "$.hosts: has to be an array; it is a string",
          "$.origins: has to be an array; it is null",
          "$.rules: has to be an array; it is an object",
        ]
      ),
      (
        ["hosts": [], "origins": [], "rules": []],
        [
          "$.hosts: is empty; leave it out", "$.origins: is empty; leave it out",
          "$.rules: is empty, so that nothing would be allowed; leave it out to allow everything",
        ]
      ),
      (
        [
          "hosts": [
            "http://a", "a.test/x", "a.test.", "*.a.test", "a:b", "a:0", "u@a", "", 1, "a", "a",
          ]
        ],
        ["http://a", "a.test/x", "a.test.", "*.a.test", "a:b", "a:0", "u@a"].enumerated().map {
          "$.hosts[\($0)]: '\($1)' is no host: give NAME or NAME:PORT, without a scheme or a path"
        } + [
          "$.hosts[7]: must not be empty", "$.hosts[8]: has to be a string; it is 1",
          "$.hosts[10]: 'a' comes twice",
        ]
      ),
      (
        ["origins": ["shop.test", "https://shop.test"]],
        ["$.origins[0]: 'shop.test' is no origin: give \(OriginPattern.form)"]
      ),
    ] as [(Value, [String])])
  func aFaultOfTheDocumentIsToldWithItsPlace(document: Value, faults: [String]) {
    #expect(Self.faults(document) == faults)
  }

  @Test(
    arguments: [
      ("text", ["$.rules[0]: has to be an object; it is a string"]),
      (
        [:],
        [
          "$.rules[0]: the member 'name' is missing",
          "$.rules[0]: a rule has 'allow' or 'deny', with the methods that it is about",
        ]
      ),
      (
        ["name": "r", "allow": ["*"], "deny": ["*"]],
        ["$.rules[0]: a rule has either 'allow' or 'deny', not both; make two rules of it"]
      ),
      (["name": "", "allow": ["*"]], ["$.rules[0].name: must not be empty"]),
      (
        ["name": .string(String(repeating: "n", count: 257)), "allow": ["*"]],
        ["$.rules[0].name: a name has at most 256 bytes; this one has 257"]
      ),
      (
        ["name": "r", "allow": ["*"], "group": ["a"], "groups": "a"],
        [
          "$.rules[0].group: unknown member; did you mean 'groups'? known here: name, allow, deny, origins, groups, "
            + "subjects, routes, schemes, server",
          "$.rules[0].groups: has to be an array; it is a string",
        ]
      ),
      (
        ["name": "r", "allow": []],
        ["$.rules[0].allow: is empty, so that the rule is about no method; '*' stands for all"]
      ),
      (
        [
          "name": "r", "deny": ["*"], "origins": [], "groups": [], "subjects": [], "routes": [],
        ],
        ["origins", "groups", "subjects"].map {
          "$.rules[0].\($0): is empty, so that the rule fits nobody; leave it out for all callers"
        } + ["$.rules[0].routes: is empty, so that the rule fits no route; leave it out for all"]
      ),
      (
        ["name": "r", "deny": ["*"], "schemes": []],
        [
          "$.rules[0].schemes: is empty, so that the rule fits no host; leave it out for all schemes"
        ]
      ),
      (
        [
          "name": "r", "allow": ["*"], "origins": ["a", "null"], "routes": ["a", "/a/:", "b:c d"],
        ],
        [
          "$.rules[0].origins[0]: 'a' is no origin: give \(OriginPattern.form)",
          "$.rules[0].routes[1]: pattern '/a/:', byte 3: a parameter is ':' and a name",
          "$.rules[0].routes[2]: pattern 'b:c d'",
        ]
      ),
      (
        ["name": "r", "allow": ["*"], "schemes": ["web", "a b", "web"]],
        [
          "$.rules[0].schemes[1]: 'a b' is no scheme: a letter, then letters, digits, '+', '-' "
            + "and '.'",
          "$.rules[0].schemes[2]: 'web' comes twice",
        ]
      ),
      (
        ["name": "r", "allow": ["router.open"], "schemes": ["web"], "server": true],
        [
          "$.rules[0].schemes: the rule is not about host.register, the only method with schemes",
          "$.rules[0].server: the rule is not about host.register, which alone has a scope",
        ]
      ),
      (
        ["name": "r", "deny": ["host.*"], "schemes": ["web"], "server": true],
        ["$.rules[0].server: a denial is about hosts of each scope; leave it out"]
      ),
      (
        ["name": "r", "allow": ["host.*"], "server": false],
        ["$.rules[0].server: has to be true, or left out"]
      ),
      (
        ["name": "r", "allow": ["*"], "schemes": ["web"], "routes": ["a"]],
        ["$.rules[0]: no call is about both 'routes' and 'schemes'; make two rules of it"]
      ),
      (
        ["name": "r", "allow": ["events.*", "navigation.back"], "routes": ["a"]],
        [
          "$.rules[0].routes: the rule is about no method that concerns a route: router.open, "
            + "router.invoke, router.canOpen, router.explain, router.deliver, navigation.adopt, "
            + "navigation.selectTab, page.call"
        ]
      ),
      (
        ["name": "r", "deny": ["session.open"]],
        [
          "$.rules[0].deny[0]: no rule is asked about session.open; who comes in is said by "
            + "'hosts', 'origins' and tokens"
        ]
      ),
    ] as [(Value, [String])])
  func aFaultOfARuleIsToldWithItsPlace(rule: Value, faults: [String]) {
    let found = Self.faults(["rules": [rule]])
    #expect(found.count == faults.count)
    for (found, expected) in zip(found, faults) {
      #expect(found.hasPrefix(expected), "\(found)")
    }
  }

  @Test(
    arguments: [
      ("router.open", nil), ("router.*", nil), ("*", nil), ("rout*", nil), ("$/*", nil),
      ("session.push", nil),
      // An app's, and those of --conformance.
      ("echo", nil), ("shop.buy", nil), ("shop.*", nil),
      ("router.opne", "there is no method 'router.opne'; near here: router.open"),
      ("router.canopen", "there is no method 'router.canopen'; near here: router.canOpen"),
      ("routr.open", "there is no method 'routr.open'; near here: router.open"),
      ("route.*", "no method begins with 'route.'; near here: router.*"),
      (
        "router.x*",
        "no method begins with 'router.x'; known here: router.invoke, router.open, "
          + "router.canOpen, router.explain, router.routes, router.deliver"
      ),
      (
        "host.everything",
        "there is no method 'host.everything'; known here: host.register, "
          + "host.unregister"
      ),
      ("task.run", "there is no method 'task.run'; rpc.discover lists the methods"),
      ("event", "there is no method 'event'; rpc.discover lists the methods"),
      ("*.open", "'*' stands at the end only, for any rest; in '*.open' it does not"),
      ("router.**", "'*' stands at the end only, for any rest; in 'router.**' it does not"),
    ] as [(String, String?)])
  func aMethodThatExistsNowhereIsToldWithNearOnes(method: String, fault: String?) {
    let found = Self.faults(["rules": [["name": "r", "allow": [.string(method)]]]])
    #expect(found == (fault.map { ["$.rules[0].allow[0]: \($0)"] } ?? []))
  }

  @Test(arguments: ["default", "permissions", "invitation", "identity", "allow"])
  func whatRefusesWithoutARuleIsNoNameOfOne(name: String) {
    let found = Self.faults(["rules": [["name": .string(name), "allow": ["*"]]]])
    #expect(
      found == [
        "$.rules[0].name: '\(name)' is told where no rule decides; take another name"
      ])
  }

  @Test func aNameIsThatOfOneRule() {
    let rule: Value = ["name": "r", "allow": ["*"]]
    #expect(
      Self.faults(["rules": [rule, rule]]) == [
        "$.rules[1].name: 'r' is the name of $.rules[0] already; names are unique"
      ])
  }

  @Test func countsAreBounded() {
    let rules = (0...1000).map { number -> Value in
      ["name": .string("r\(number)"), "allow": ["*"]]
    }
    #expect(Self.faults(["rules": .list(Array(rules.dropLast()))]) == [])
    #expect(
      Self.faults(["rules": .list(rules)]) == [
        "$.rules: a policy has at most 1000 rules; these are 1001"
      ])
    let groups = (0...1000).map { Value.string("g\($0)") }
    #expect(
      Self.faults(["rules": [["name": "r", "allow": ["*"], "groups": .list(groups)]]]) == [
        "$.rules[0].groups: has at most 1000 entries; these are 1001"
      ])
  }

  @Test func theSchemaKnowsExactlyTheMembersThatThePolicyTakes() throws {
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
