import Testing
import WayPatterns
import WayRouting
import WayValues

@Suite struct RedirectTests {
  /// Returns the URI that a URI resolves to.
  private func redirectTarget(_ uri: String, _ redirects: KeyValuePairs<String, String>) throws
    -> String
  {
    let router = Router()
    for (from, to) in redirects { try router.redirect(from, to: to) }
    return try router.snapshot().resolve(RouteURI(mapping: uri)).uri.text
  }

  @Test(
    "a redirect carries over unnamed parameters",
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
      ("n://:host", "https://:host/", "n://u@shop.x", "https://shop.x/"),
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
  func carriesOverParameters(from: String, to: String, uri: String, expected: String) throws {
    #expect(try redirectTarget(uri, [from: to]) == expected)
  }

  @Test(
    "rejects a dot segment as a capture of a target",
    arguments: [
      ("n://:host/a", "n://x/:host/y", "n://../a", "$.host"),
      ("n://:host/a", "https://:host/y", "n://./a", "$.host"),
      ("n://*", "n://x/*", "n://../a", "$['*']"),
    ])
  func rejectsDotSegmentCaptures(from: String, to: String, uri: String, path: String) throws {
    let error = #expect(throws: RouterResolutionError.self) { try redirectTarget(uri, [from: to]) }
    guard case .invalidParameters(let faults) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(faults.map(\.path) == [path])
    #expect(faults.first?.message.contains("\"..\"") == true)
  }

  @Test(
    "removes dot segments of a URI before its redirect",
    arguments: [
      ("n://old/1/../2", "n://new/2"), ("n://old/..", "n://old/"),
      ("n://old/%2e%2E/old/3", "n://old/old/3"), ("n://old/%252e%252e", "n://new/%252e%252e"),
      ("n://old/..%2F", "n://new/..%2F"),
    ])
  func removesDotSegmentsBeforeRedirect(uri: String, expected: String) throws {
    #expect(try redirectTarget(uri, ["n://old/:id": "n://new/:id"]) == expected)
  }

  @Test func `the most specific redirect wins over routes`() throws {
    let redirects: KeyValuePairs = [
      "n://a/:x": "n://parameter", "n://a/b": "n://literal", "/a/b": "n://global",
    ]
    #expect(try redirectTarget("n://a/b", redirects) == "n://literal")
    #expect(try redirectTarget("n://a/c", redirects) == "n://parameter?x=c")
    #expect(try redirectTarget("m://a/b", redirects) == "n://global")
    let router = Router()
    try router.page("n://a")
    try router.page("n://b")
    try router.redirect("n://a", to: "n://b")
    #expect(try router.route("n://a") == "n://b")
    try router.setScheme("n", isClosed: true)
    try router.redirect("/c", to: "n://a")
    #expect(try router.route("n://c") == nil, "a closed scheme has no global redirects either")
    #expect(try router.route("m://c") == "n://b")
  }

  @Test func `follows eight redirects and rejects longer chains and loops`()
    throws
  {
    let router = Router()
    for hop in 1...9 { try router.redirect("n://r\(hop)", to: "n://r\(hop - 1)") }
    try router.page("n://r0")
    #expect(try router.route("n://r8") == "n://r0")
    #expect(throws: RouterResolutionError.redirectLoop(chain: (0...9).map { "n://r\(9 - $0)" })) {
      try router.route("n://r9")
    }
    try router.redirect("n://a", to: "n://b")
    try router.redirect("n://b", to: "n://a")
    try router.redirect("n://self/:x", to: "n://self/:x")
    let chain = ["n://a", "n://b", "n://a"]
    #expect(throws: RouterResolutionError.redirectLoop(chain: chain)) { try router.route("n://a") }
    #expect(throws: RouterResolutionError.redirectLoop(chain: ["n://self/1", "n://self/1"])) {
      try router.route("n://self/1")
    }
    let explanation = router.explain("n://a")
    #expect(!explanation.canOpen && explanation.redirects == ["n://b", "n://a"])
    #expect(router.explain("n://r2").redirects == ["n://r1", "n://r0"])
    #expect(router.explain("n://r2").route?.name == "n://r0")
  }

  @Test(
    "rejects an invalid redirect with a reason",
    arguments: [
      ("n://a", "n://b/:id", "\"n://a\""), ("n://a(/:id)", "n://b/:id", "optional group"),
      ("n://a/*", "n://b(/c)", "no optional groups"), ("n://a", "/b", "begins with a scheme"),
      ("n://a", "n://b/%", "\"%25\""), ("n://a", "n://b?x=%", "\"%25\""),
      ("n://a", "b", "begin with"),
      ("n://a", "https://h:99999/", "65535"), ("n://a/*", "n://*", "after a slash"),
      ("n://a", "n://b?x=:y", "\":y\""), ("n://a", "n://b#ü%", "\"%25\""),
      ("n:// a", "n://b", "byte 4"),
      ("n://a", "", "begin with"), ("", "n://a", "begin with"),
      ("n://a", "n://" + String(repeating: "a", count: 70_000), "65536"),
    ])
  func rejectsInvalidRedirects(from: String, to: String, hint: String) {
    let error = #expect(throws: RouterConfigurationError.self) {
      try Router().redirect(from, to: to)
    }
    #expect(error?.description.contains(hint) == true, "\(String(describing: error))")
  }

  @Test func `replaces, removes and atomically adds redirects`() throws {
    let router = Router()
    try router.page("n://x")
    try router.redirect("n://a/:x", to: "n://b")
    #expect(throws: RouterConfigurationError.redirectConflict(from: "n://a/:y", other: "n://a/:x"))
    {
      try router.redirect("n://a/:y", to: "n://b")
    }
    #expect(throws: RouterConfigurationError.self) {
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

  @Test func `a fallback receives the captures of its route`() throws {
    let router = Router()
    try router.register(
      Route(
        name: "r", patterns: [RoutePattern("n://r/:id"), RoutePattern("/r/:id")], kind: .page,
        fallback: PatternTarget("https://h.x/r/:id?from=app")))
    let snapshot = router.snapshot()
    let match = try router.match("n://r/5?q=1#f", ["id": 6])
    #expect(try snapshot.fallback(of: match)?.text == "https://h.x/r/5?from=app&q=1#f")
    #expect(router.explain("n://r/5").fallback == "https://h.x/r/5?from=app")
    let rejected = RouterConfigurationError.invalidFallback(
      route: "s", parameter: "id", pattern: "n://s(/:id)")
    #expect(throws: rejected) {
      try router.register(
        Route(
          name: "s", patterns: [RoutePattern("n://s(/:id)")], kind: .page,
          fallback: PatternTarget("https://h.x/:id")))
    }
  }

  @Test func `a scheme redirects its undefined routes`() throws {
    let router = Router()
    try router.page("native://upgrade")
    try router.setUndefinedRoute(scheme: "NATIVE", leadsTo: "native://upgrade?why=old")
    let uri = try RouteURI("native://new/x?a=b")
    #expect(
      try router.snapshot().undefinedTarget(of: uri)?.text
        == "native://upgrade?why=old&uri=native://new/x?a%3Db")
    #expect(try router.snapshot().undefinedTarget(of: RouteURI("flutter://new")) == nil)
    #expect(router.explain("native://new").fallback == "native://upgrade?why=old&uri=native://new")
    try router.setUndefinedRoute(scheme: "native", leadsTo: nil)
    #expect(try router.snapshot().undefinedTarget(of: uri) == nil)
    #expect(throws: RouterConfigurationError.self) {
      try router.setUndefinedRoute(scheme: "native", leadsTo: "native://:x")
    }
    #expect(throws: RouterConfigurationError.invalidScheme("-")) {
      try router.setUndefinedRoute(scheme: "-", leadsTo: "native://x")
    }
  }

  @Test func `finds the next match after a declined one`() throws {
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
    try router.setScheme("native", isClosed: true)
    #expect(
      try router.snapshot().matches(after: first, params: [:], for: nil).map(\.route.name)
        == ["parameter"])
  }
}
