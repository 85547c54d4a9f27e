import TestSupport
import WayValues

/// Random documents of one app's table. Routes come and go, and pass other gates; redirects, tabs, the
/// order of the gates and their pages change. The task `action://pay` always needs the gate `signedIn`
/// alone.
struct RandomNavigationTable {
  /// URIs of pages. Some lead to no page in some of the tables.
  static let pages =
    (0..<4).map { "native://page/\($0)" }
    + ["native://secret/1", "native://vault/1", "native://late/1", "native://old/2"]
  static let tabs = (0..<3).map { "native://tab/\($0)" }
  static let gates = ["signedIn", "unlocked"]

  private var version = 0

  /// Returns the next document.
  mutating func next(using random: inout SeededRandom) -> Value {
    version += 1
    var tabs = Self.tabs.shuffled(using: &random)
    tabs.removeLast(Int.random(in: 0...1, using: &random))
    return [
      "version": .string("\(version)"), "groups": ["account": "Users", "safe": "With a number"],
      "tabs": .array(tabs.map(Value.string)), "gates": gates(using: &random),
      "redirects": redirects(using: &random), "routes": .array(routes(using: &random)),
    ]
  }

  private func routes(using random: inout SeededRandom) -> [Value] {
    var routes = [
      page("tab", "tab/:n"), page("login"), page("pin"),
      page("page", "page/:n", Bool.random(using: &random) ? [] : ["account"]),
      page("secret", "secret/:n", Bool.random(using: &random) ? ["account"] : ["safe"]),
      ["name": "pay", "pattern": "action://pay", "kind": "task", "groups": ["account"]],
    ]
    if Int.random(in: 0..<4, using: &random) > 0 {
      let parent = Bool.random(using: &random) ? "secret/:n" : "page/:n"
      routes.append(page("vault", "vault/:n", ["account", "safe"], parent: parent))
    }
    if Bool.random(using: &random) { routes.append(page("late", "late/:n", parent: "page/:n")) }
    return routes.shuffled(using: &random)
  }

  private func page(
    _ name: String, _ path: String? = nil, _ groups: [String] = [], parent: String? = nil
  ) -> Value {
    var route: ValueObject = [
      "name": .string(name), "pattern": .string("native://\(path ?? name)"), "kind": "page",
      "groups": .array(groups.map(Value.string)),
    ]
    if let parent { route["parents"] = [.string("native://\(parent)")] }
    return .object(route)
  }

  private func gates(using random: inout SeededRandom) -> Value {
    let again = Bool.random(using: &random) ? "?again=1" : ""
    var gates = [
      ("signedIn", ["opens": .string("native://login\(again)"), "groups": ["account"]] as Value)
    ]
    if Int.random(in: 0..<4, using: &random) > 0 {
      let style: Value = Bool.random(using: &random) ? "present" : "push"
      gates.append(("unlocked", ["opens": "native://pin", "style": style, "groups": ["safe"]]))
    }
    var object: ValueObject = [:]
    for (name, gate) in gates.shuffled(using: &random) { object[name] = gate }
    return .object(object)
  }

  private func redirects(using random: inout SeededRandom) -> Value {
    var redirects: [Value] = []
    if Bool.random(using: &random) {
      let target = Bool.random(using: &random) ? "page/:n" : "secret/:n"
      redirects.append(["from": "native://old/:n", "to": .string("native://\(target)")])
    }
    if Bool.random(using: &random) {
      redirects.append(["from": "native://page/3", "to": "native://secret/1"])
    }
    return .array(redirects)
  }
}
