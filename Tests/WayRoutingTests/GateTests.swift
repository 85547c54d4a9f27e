import Testing
import WayNavigation
import WayPatterns
import WayValues

@testable import WayRouting

/// Which calls need a gate, and in which order they pass several.
struct GateTests {
  private let router = Router()

  private func add(_ name: String, on scopes: [Interceptor.InterceptorScope]) throws {
    router.add(Gate(name, on: scopes, opens: try RouteURI("native://login")))
  }

  private func gates(of uri: String) -> [String] {
    router.snapshot().explain(uri).gates
  }

  @Test func callsNeedTheGatesOfTheirRouteAndGroups() throws {
    for (name, groups) in [("open", []), ("orders", ["account"]), ("staff", ["account", "staff"])] {
      try router.register(
        Route(
          name: name, patterns: [RoutePattern("native://\(name)")], kind: .page, groups: groups))
    }
    try add("signedIn", on: [.groups(["account"])])
    try add("unlocked", on: [.all(except: ["open"])])
    try add("confirmed", on: [.routes(["staff", "open"]), .groups(["other"])])
    for (uri, names) in [
      ("native://open", ["confirmed"]), ("native://orders", ["signedIn", "unlocked"]),
      ("native://staff", ["signedIn", "unlocked", "confirmed"]), ("native://none", ["unlocked"]),
    ] {
      #expect(gates(of: uri) == names, "\(uri)")
    }
    try router.add(routes: ["open"], toGroup: "account")
    #expect(gates(of: "native://open") == ["signedIn", "confirmed"])
    #expect(router.removeGate("signedIn"))
    #expect(!router.removeGate("signedIn"))
    #expect(gates(of: "native://orders") == ["unlocked"])
  }

  @Test func interceptorsDecideBeforeGates() throws {
    try router.task("action://a", name: "a") { _ in 1 }
    try add("signedIn", on: [.routes(["a"])])
    for (decision, text) in [
      (Interception.next, "gates signedIn nil"), (.change(params: ["n": "2"]), "gates signedIn 2"),
      (.refuse("no"), "refused"), (.redirect(to: "action://b"), "redirect"),
    ] {
      router.intercept("decide") { _ in decision }
      let uri = try RouteURI("action://a")
      let resolution = try router.snapshot().resolve(uri)
      let call = Call(uri: uri, params: [:], exts: [:], navigator: StubNavigator())
      let found =
        switch router.snapshot().interceptors(of: resolution)?.evaluate(call) {
        case .gates(let gates, let params):
          "gates \(gates.map(\.name).joined()) \(params?["n"]?.string ?? "nil")"
        case .refused: "refused"
        case .redirect: "redirect"
        default: "another"
        }
      #expect(found == text)
    }
  }

  @Test func gateOfCodeReplacesDeclaredOne() throws {
    var declarations = RouterDeclarations()
    for name in ["first", "second"] {
      declarations.gates.append(
        Gate(name, on: [.all()], opens: try RouteURI("native://declared")))
    }
    try router.declare(declarations)
    try add("second", on: [.all()])
    #expect(router.snapshot().gates.map(\.name) == ["second", "first"])
    #expect(router.snapshot().gates.map(\.target.text) == ["native://login", "native://declared"])
    try router.declare(RouterDeclarations(), replacing: true)
    #expect(router.snapshot().gates.map(\.name) == ["second"])
  }
}
