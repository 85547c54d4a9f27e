import Testing
import WayNavigation
import WayPatterns
import WayRouting
import WayValues

/// The suggestion for a URI without a route.
struct NearestPatternTests {
  private static let patterns = [
    "native://address/list", "native://address/:id", "native://addresses/:id/edit",
    "action://pay/:id", "native:/settings", "native://files/*", "/global/list",
    "native://shop/tea(/:kind)",
  ]

  private let router = Router()
  private let caller = Caller(session: "s", identity: Identity(groups: ["staff"]))

  private func nearestPattern(to uri: String, for caller: Caller? = nil) throws -> String? {
    let found = router.snapshot().nearestPattern(
      to: try RouteURI(uri), for: caller ?? self.caller)
    return found?.text
  }

  @Test(
    arguments: [
      ("native://adress/list", "native://address/list"),
      ("native://ADRESS/7?city=1#top", "native://address/:id"),
      ("native://adreses/7/edit", "native://addresses/:id/edit"),
      ("native://addresses/7/edti", "native://addresses/:id/edit"),
      ("native:/setings", "native:/settings"), ("action://pya/7", "action://pay/:id"),
      ("native://shop/tae/green", "native://shop/tea(/:kind)"),
      // Too different, another shape or scheme, or no value for a parameter.
      ("native://order/list", nil), ("native:/adress/list", nil), ("flutter://adress/list", nil),
      ("native://adress", nil), ("native://adress/list/more", nil), ("native://adress//", nil),
      // At most a third of a segment may differ.
      ("action://pa/7", "action://pay/:id"), ("action://p/7", nil),
      // Wildcards and global patterns are not suggested.
      ("native://fiels/a", nil), ("native://globl/list", nil),
      // The URI matches.
      ("native://address/list", nil),
    ] as [(String, String?)])
  func findsMisspelledPattern(uri: String, pattern: String?) throws {
    for text in Self.patterns {
      let kind: RouteKind = text.hasPrefix("action:") ? .task : .page
      try router.register(Route(name: text, patterns: [try RoutePattern(text)], kind: kind))
    }
    #expect(try nearestPattern(to: uri) == pattern)
  }

  @Test func prefersPatternWithFewerDifferences() throws {
    for text in ["native://order/list", "native://orders/list"] { try router.page(text) }
    #expect(try nearestPattern(to: "native://ordres/list") == "native://orders/list")
  }

  @Test func ignoresRoutesThatCallerMayNotCall() throws {
    try router.register(
      Route(
        name: "report", patterns: [try RoutePattern("native://report/:id")], kind: .page,
        permissions: ["staff"]))
    try router.register(
      Route(
        name: "preview", patterns: [try RoutePattern("native://preview/:id")], kind: .page,
        rollout: RouteRollout(share: 0..<0)))
    #expect(try nearestPattern(to: "native://reprot/7") == "native://report/:id")
    #expect(try nearestPattern(to: "native://reprot/7", for: Caller(session: "s")) == nil)
    #expect(try nearestPattern(to: "native://preveiw/7") == nil)
  }

  @Test func comparesLimitedNumberOfPatternsAndBytes() throws {
    for number in 0..<300 { try router.page("native://section\(number)/details") }
    #expect(try nearestPattern(to: "native://section7/detials") == "native://section7/details")
    let long = String(repeating: "a", count: 300)
    try router.page("native://\(long)/details")
    #expect(try nearestPattern(to: "native://\(long)/detials") == nil)
    let found = try (0..<300).filter {
      try nearestPattern(to: "native://section\($0)/detials") == "native://section\($0)/details"
    }
    #expect(found.count <= 256)
  }

  @Test func removedRouteIsNotSuggested() throws {
    let registration = try router.page("native://address/list")
    #expect(try nearestPattern(to: "native://adress/list") != nil)
    router.remove(registration)
    #expect(try nearestPattern(to: "native://adress/list") == nil)
  }
}
