import Testing
import WayPatterns
import WayRouting
import WayValues

@Suite struct RedirectTests {
  /// Where a URI leads.
  private func target(_ uri: String, _ redirects: KeyValuePairs<String, String>) throws -> String {
    let router = Router()
    for (from, to) in redirects { try router.redirect(from, to: to) }
    return try router.snapshot().resolve(RouteURI(mapping: uri)).uri.text
  }

  @Test(
    "a redirect carries over what it does not name",
    arguments: [
      ("n://old", "n://new", "n://old", "n://new"), ("n://old", "n://new", "N://Old/", "n://new"),
      ("n://old", "n://new", "n://older", "n://older"),
      ("n://old/:id", "n://new/:id", "n://old/a%2Fb?q=1&q=2#f", "n://new/a%2Fb?q=1&q=2#f"),
      ("n://old/:id", "n://new", "n://old/7?q=1", "n://new?q=1&id=7"),
      ("n://old/:id", "n://new", "n://old/7?id=1", "n://new?id=7"),
      (
        "n://old/:id", "https://h.x/p/?x=1&id=:id", "n://old/a&b=c",
        "https://h.x/p/?x=1&id=a%26b%3Dc"
      ),
      ("n://old", "n://new?q=mine#own", "n://old?q=1&r=2#f", "n://new?q=mine&r=2#own"),
      ("n://old", "n://new?", "n://old?q=1", "n://new?q=1"),
      ("n://:host/:id", "https://:host/:id", "n://a.b/c", "https://a.b/c"),
      ("n://:host", "https://:host/", "n://u@evil.x:80", "https://u%40evil.x%3A80/"),
      ("n://files/*", "https://h.x/f/*", "n://files/a/b%3F/?v=1", "https://h.x/f/a/b%3F?v=1"),
      ("n://files/*", "https://h.x/f/*", "n://files", "https://h.x/f"),
      ("n://files/*", "https://h.x/f", "n://files/a/b", "https://h.x/f?*=a&*=b"),
      ("/old/:id", "n://new/:id", "https://w.x/old/5", "n://new/5"),
      ("n://old(/:id)", "n://new", "n://old", "n://new"),
      ("n://é", "n://ü/é?é=é", "n://é?a=b", "n://%C3%BC/%C3%A9?%C3%A9=%C3%A9&a=b"),
      ("n:a/:x", "tel::x", "n:a/5", "tel:5"),
      (
        "/rootTab/:index", "navigation:selectTab?index=:index", "n://rootTab/1",
        "navigation:selectTab?index=1"
      ),
    ])
  func carries(from: String, to: String, uri: String, expected: String) throws {
    #expect(try target(uri, [from: to]) == expected)
  }

  @Test(
    "a capture that is a dot segment gets into no target",
    arguments: [
      ("n://:host/a", "n://x/:host/y", "n://../a", "$.host"),
      ("n://:host/a", "https://:host/y", "n://./a", "$.host"),
      ("n://*", "n://x/*", "n://../a", "$['*']"),
    ])
  func dots(from: String, to: String, uri: String, path: String) throws {
    let error = #expect(throws: ResolutionError.self) { try target(uri, [from: to]) }
    guard case .invalidParameters(let faults) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(faults.map(\.path) == [path])
    #expect(faults.first?.message.contains("'..'") == true)
  }

  @Test(
    "dot segments of a called URI are removed before it is redirected",
    arguments: [
      ("n://old/1/../2", "n://new/2"), ("n://old/..", "n://old/"),
      ("n://old/%2e%2E/old/3", "n://old/old/3"), ("n://old/%252e%252e", "n://new/%252e%252e"),
      ("n://old/..%2F", "n://new/..%2F"),
    ])
  func dotsInURIs(uri: String, expected: String) throws {
    #expect(try target(uri, ["n://old/:id": "n://new/:id"]) == expected)
  }

  @Test func `the most specific redirect is followed, a route's own is not asked`() throws {
    let redirects: KeyValuePairs = [
      "n://a/:x": "n://parameter", "n://a/b": "n://literal", "/a/b": "n://global",
    ]
    #expect(try target("n://a/b", redirects) == "n://literal")
    #expect(try target("n://a/c", redirects) == "n://parameter?x=c")
    #expect(try target("m://a/b", redirects) == "n://global")
    let router = Router()
    try router.page("n://a")
    try router.page("n://b")
    try router.redirect("n://a", to: "n://b")
    #expect(try router.route("n://a") == "n://b")
    try router.closeScheme("n")
    try router.redirect("/c", to: "n://a")
    #expect(try router.route("n://c") == nil, "a closed scheme has no global redirects either")
    #expect(try router.route("m://c") == "n://b")
  }

  @Test func `a chain of eight is followed, a ninth and a circle are refused with the chain`()
    throws
  {
    let router = Router()
    for hop in 1...9 { try router.redirect("n://r\(hop)", to: "n://r\(hop - 1)") }
    try router.page("n://r0")
    #expect(try router.route("n://r8") == "n://r0")
    #expect(throws: ResolutionError.redirectLoop(chain: (0...9).map { "n://r\(9 - $0)" })) {
      try router.route("n://r9")
    }
    try router.redirect("n://a", to: "n://b")
    try router.redirect("n://b", to: "n://a")
    try router.redirect("n://self/:x", to: "n://self/:x")
    let chain = ["n://a", "n://b", "n://a"]
    #expect(throws: ResolutionError.redirectLoop(chain: chain)) { try router.route("n://a") }
    #expect(throws: ResolutionError.redirectLoop(chain: ["n://self/1", "n://self/1"])) {
      try router.route("n://self/1")
    }
    let explanation = router.explain("n://a")
    #expect(!explanation.canOpen && explanation.redirects == ["n://b", "n://a"])
    #expect(router.explain("n://r2").redirects == ["n://r1", "n://r0"])
    #expect(router.explain("n://r2").route?.name == "n://r0")
  }

  @Test(
    "what is no redirect says why",
    arguments: [
      ("n://a", "n://b/:id", "'n://a'"), ("n://a(/:id)", "n://b/:id", "optional group"),
      ("n://a/*", "n://b(/c)", "no optional groups"), ("n://a", "/b", "begins with a scheme"),
      ("n://a", "n://b/%", "'%25'"), ("n://a", "n://b?x=%", "'%25'"), ("n://a", "b", "begin with"),
      ("n://a", "https://h:99999/", "65535"), ("n://a/*", "n://*", "after a slash"),
      ("n://a", "n://b?x=:y", "':y'"), ("n://a", "n://b#ü%", "'%25'"),
      ("n:// a", "n://b", "byte 4"),
      ("n://a", "n://b?x y", "byte"), ("n://a", "", "begin with"), ("", "n://a", "begin with"),
      ("n://a", "n://" + String(repeating: "a", count: 70_000), "65536"),
    ])
  func wrong(from: String, to: String, hint: String) {
    let error = #expect(throws: RouterError.self) { try Router().redirect(from, to: to) }
    #expect(error?.description.contains(hint) == true, "\(String(describing: error))")
  }

  @Test func `redirects are replaced, removed, and added all or none`() throws {
    let router = Router()
    try router.page("n://x")
    try router.redirect("n://a/:x", to: "n://b")
    #expect(throws: RouterError.redirectClash(from: "n://a/:y", other: "n://a/:x")) {
      try router.redirect("n://a/:y", to: "n://b")
    }
    #expect(throws: RouterError.self) {
      try router.redirect(contentsOf: [
        Redirect(from: "n://q", to: "n://x"), Redirect(from: "n://a/:z", to: "n://x"),
      ])
    }
    #expect(try router.route("n://q") == nil)
    try router.redirect("n://a/:x", to: "n://x")
    #expect(try router.route("n://a/1") == "n://x")
    #expect(router.removeRedirect("n://a/:x"))
    #expect(!router.removeRedirect("n://a/:x"))
    #expect(try router.route("n://a/1") == nil)
    try router.redirect("n://a/:y", to: "n://x")
    router.removeRedirects()
    #expect(try router.route("n://a/1") == nil)
  }

  @Test func `a route's fallback gets what its pattern captured`() throws {
    let router = Router()
    try router.register(
      Route(
        name: "r", patterns: [RoutePattern("n://r/:id"), RoutePattern("/r/:id")], kind: .page,
        fallback: PatternTarget("https://h.x/r/:id?from=app")))
    let snapshot = router.snapshot()
    let match = try router.match("n://r/5?q=1#f", ["id": 6])
    #expect(try snapshot.fallback(of: match)?.text == "https://h.x/r/5?from=app&q=1#f")
    #expect(router.explain("n://r/5").fallback == "https://h.x/r/5?from=app")
    let refused = RouterError.fallbackUnfit(route: "s", parameter: "id", pattern: "n://s(/:id)")
    #expect(throws: refused) {
      try router.register(
        Route(
          name: "s", patterns: [RoutePattern("n://s(/:id)")], kind: .page,
          fallback: PatternTarget("https://h.x/:id")))
    }
  }

  @Test func `a scheme says where what it lacks leads`() throws {
    let router = Router()
    try router.page("native://upgrade")
    try router.undefinedRoute(scheme: "NATIVE", leadsTo: "native://upgrade?why=old")
    let uri = try RouteURI("native://new/x?a=b")
    #expect(
      try router.snapshot().undefinedTarget(of: uri)?.text
        == "native://upgrade?why=old&uri=native://new/x?a%3Db")
    #expect(try router.snapshot().undefinedTarget(of: RouteURI("flutter://new")) == nil)
    #expect(router.explain("native://new").fallback == "native://upgrade?why=old&uri=native://new")
    try router.undefinedRoute(scheme: "native", leadsTo: nil)
    #expect(try router.snapshot().undefinedTarget(of: uri) == nil)
    #expect(throws: RouterError.self) {
      try router.undefinedRoute(scheme: "native", leadsTo: "native://:x")
    }
    #expect(throws: RouterError.invalidScheme("-")) {
      try router.undefinedRoute(scheme: "-", leadsTo: "native://x")
    }
  }

  @Test func `a handler that declines leaves the call to the next match`() throws {
    let router = Router()
    try router.page("native://a/b", name: "literal")
    try router.page("native://a/:x", name: "parameter")
    try router.task("/a/*", name: "task") { _ in nil }
    try router.page("/a/:y", name: "global")
    let first = try router.match("native://a/b?q=1")
    let rest = try router.snapshot().matches(after: first, params: ["p": 2], for: nil)
    #expect(rest.map(\.route.name) == ["parameter", "global"])
    #expect(rest.map(\.params) == [["q": "1", "x": "b", "p": 2], ["q": "1", "y": "b", "p": 2]])
    let last = try #require(rest.last)
    #expect(try router.snapshot().matches(after: last, params: [:], for: nil).isEmpty)
    try router.closeScheme("native")
    #expect(
      try router.snapshot().matches(after: first, params: [:], for: nil).map(\.route.name)
        == ["parameter"])
  }
}
