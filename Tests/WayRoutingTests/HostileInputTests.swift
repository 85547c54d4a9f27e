import Testing
import WayPatterns
import WayRouting
import WayValues

/// Input that a peer controls gets a response in bounded time, with an error if it exceeds a limit.
@Suite(.timeLimit(.minutes(1)))
struct HostileInputTests {
  private static let longText = String(repeating: "a", count: 1 << 20)

  @Test(
    "rejects and explains an excessive URI",
    arguments: [
      ("native://a" + String(repeating: "/b", count: 10_000), "256 path segments"),
      ("native://a?" + String(repeating: "p=1&", count: 10_000), "256 query parameters"),
      ("native://a/%00", "%00"), ("native://a/%", "byte 11"), ("native://a?x=%", "byte 13"),
      ("native://a?%00=1", "%00"), ("native://a/%ff", "UTF-8"), ("native://" + longText, "65536"),
      ("native:" + String(repeating: "/", count: 60_000), "256 path segments"),
      (String(repeating: "a", count: 60_000) + ":", "no declared route"),
      ("native://" + String(repeating: "@", count: 60_000), "not allowed"),
      ("\0native://a", "no scheme"), ("native://a\0", "not allowed"),
      ("\u{FEFF}native:", "no scheme"),
    ])
  func rejectsExcessiveURIs(text: String, hint: String) throws {
    let router = Router()
    try router.page("native://a/:id", name: "a")
    try router.page("native://a/*", name: "rest")
    try router.page("/:x(/:y(/:z))", name: "global")
    try router.redirect("native://b/*", to: "native://a/*")
    router.intercept("all") { _ in .next }
    let explanation = router.explain(text)
    #expect(!explanation.canOpen)
    #expect(explanation.reason.contains(hint), "\(explanation.reason.prefix(300))")
    #expect(explanation.text.utf8.count < 20_000)
  }

  @Test(
    "rejects an excessive pattern",
    arguments: [
      (String(repeating: "(/a)", count: 1 << 18), "65536"),
      ("/a" + String(repeating: "(/b)", count: 200), "more than 32 forms"),
      ("/a" + String(repeating: "(/b", count: 10_000), "deeper than 8"),
      (String(repeating: "/:a", count: 10_000), "256 segments"),
      ("/a" + String(repeating: ")", count: 10_000), "no group is open"),
      ("/" + String(repeating: "*", count: 10_000), "wildcard"), ("/%00", "\"%00\""),
      ("/%", "\"%25\""),
    ])
  func rejectsExcessivePatterns(text: String, hint: String) throws {
    let error = #expect(throws: RoutePatternError.self) { try RoutePattern(text) }
    #expect(error?.reason.contains(hint) == true, "\(String(describing: error?.reason))")
    #expect(throws: RoutePatternError.self) { try PatternTarget(text) }
  }

  @Test func `checks many parameters in bounded time`() throws {
    let router = Router()
    try router.register(
      Route(
        name: "r", patterns: [RoutePattern("x://r(/:id)")], kind: .task,
        parameters: (0..<200).map { ParameterDeclaration("p\($0)", .integer, isRequired: true) },
        isStrict: true))
    var params = ValueObject()
    for number in 0..<20_000 { params["p\(number)"] = "x" }
    let error = #expect(throws: RouterResolutionError.self) { try router.match("x://r", params) }
    guard case .invalidParameters(let faults) = error else { return }
    #expect(faults.count == 32)
  }

  @Test func `rejects a redirect whose URI exceeds the limit`() throws {
    let router = Router()
    try router.redirect("x://a/:p", to: "x://b/:p?a=:p&b=:p&c=:p")
    let long = "x://a/" + String(repeating: "%41", count: 20_000)
    #expect(throws: RouterResolutionError.self) { try router.route(long) }
    #expect(try router.route("x://a/" + String(repeating: "a", count: 10_000)) == nil)
  }

  @Test func `resolves the same route among many routes`() throws {
    let small = try snapshot(100)
    let large = try snapshot(20_000)
    let uri = try RouteURI("native://area7/item7/42")
    guard case .match(let first) = try small.resolve(uri),
      case .match(let second) = try large.resolve(uri)
    else {
      Issue.record("no match")
      return
    }
    #expect(first.route.name == second.route.name)
    #expect(large.explain("native://area7/item7x/42").candidates.count == 8)
  }

  private func snapshot(_ count: Int) throws -> RouterSnapshot {
    let router = Router()
    try router.register(
      contentsOf: (0..<count).map {
        Route(
          name: "r\($0)", patterns: [try RoutePattern("native://area\($0 % 97)/item\($0)/:id")],
          kind: .page)
      })
    return router.snapshot()
  }
}
