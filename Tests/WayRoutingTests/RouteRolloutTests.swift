import Testing
import WayPatterns
import WayRouting
import WayValues

/// Routes and branches that apply to some callers only.
struct RolloutTests {
  private func caller(
    _ user: String? = nil, _ client: String? = nil, _ version: String? = nil, session: String = "s"
  ) -> Caller {
    Caller(
      session: session, identity: Identity(user: user),
      client: client.map { Caller.CallingClient(id: "c", name: $0, version: version) })
  }

  private func range(_ text: String) throws -> VersionRange { try #require(VersionRange(text)) }

  @Test(
    "compares versions numerically",
    arguments: [
      (">=5.2 <6", "5.2", true), (">=5.2 <6", "5.10.1", true), (">=5.2 <6", "6.0", false),
      (">=5.2 <6", "5.1.9", false), ("5.2", "5.2.0", true), ("=5.2", "5.2.1", false),
      (">5.2", "5.2.0", false), ("<=5.2", "5.2", true), ("<5.10", "5.9", true),
      ("5.2", "5.2-beta", true), ("5.2", "5.2+7", true), (">=0", "x", nil), (">=0", "5.", nil),
      (">=0", "", nil), (">=0", "5..1", nil), (">=0", "99999999999", nil),
    ] as [(String, String, Bool?)])
  func comparesVersions(_ range: String, _ version: String, _ isMeant: Bool?) throws {
    let range = try self.range(range)
    #expect(ProgramVersion(version).map(range.contains) == isMeant)
  }

  @Test(arguments: ["", " ", ">=", "5.x", ">= 5", "~5", "5,6", "=>5"])
  func rejectsInvalidVersionRange(_ text: String) {
    #expect(VersionRange(text) == nil)
  }

  @Test func positionOfUserMatchesReferenceValues() {
    // Computed independently in Python from the documentation of ``RouteRollout/position(of:salt:)``.
    let places: [(String?, String, Double)] = [
      ("ann", "new", 0.7964466023258865),
      ("Ünal", "new", 0.6188583595212549),
      (nil, "new", 0.9645664170384407),
      ("ann", "native://list", 0.6846641923766583),
    ]
    for (user, salt, place) in places {
      #expect(abs(RouteRollout.position(of: caller(user), salt: salt) - place) < 1e-9, "\(salt)")
    }
  }

  @Test func shareSelectsProportionalGrowingUserSet() {
    let users = (0..<10_000).map { caller("user-\($0)") }
    func admitted(_ share: Double) -> Set<Int> {
      let range = 0..<share
      return Set(
        users.indices.filter { range.contains(RouteRollout.position(of: users[$0], salt: "new")) })
    }
    let (tenth, fifth) = (admitted(0.1), admitted(0.2))
    #expect((900...1100).contains(tenth.count) && (1880...2120).contains(fifth.count))
    #expect(tenth.isSubset(of: fifth))
    #expect(admitted(0) == [] && admitted(1).count == 10_000)
  }

  private func router() throws -> Router {
    let router = Router()
    let new = RouteRollout(
      share: 0..<0.5, clients: [.init(name: "shop", versions: try range(">=5"))])
    try router.register(
      Route(
        name: "new", patterns: [RoutePattern("native://list")], kind: .page, priority: 1,
        rollout: new))
    try router.page("native://list", name: "old")
    try router.register(
      Route(
        name: "beta", patterns: [RoutePattern("native://beta")], kind: .page,
        rollout: RouteRollout(clients: [.init(name: nil, versions: try range("9"))])))
    return router
  }

  @Test func excludedCallerUsesNextRoute() throws {
    let snapshot = try router().snapshot()
    func route(_ uri: String, _ caller: Caller?) throws -> String? {
      try snapshot.resolve(RouteURI(uri), for: caller).route?.name
    }
    let inside = try #require(
      (0..<100).map { caller("u\($0)", "shop", "5.1") }.first {
        RouteRollout.position(of: $0, salt: "new") < 0.5
      })
    let user = inside.identity.user
    #expect(try route("native://list", inside) == "new")
    #expect(try route("native://list", caller(user, "shop", "4.9")) == "old")
    #expect(try route("native://list", caller(user, "web", "5.1")) == "old")
    #expect(try route("native://list", caller(user, "shop", nil)) == "old")
    #expect(try route("native://list", nil) == "old")
    #expect(try route("native://beta", caller("u", "any", "9.0")) == "beta")
    #expect(try route("native://beta", inside) == nil)
  }

  @Test func cachingResolverSeparatesCallers() throws {
    var reader = CachingRouteResolver(try router())
    let (mine, other) = (caller("u", "any", "9"), caller("u", "any", "8"))
    for caller in [mine, other, mine, mine, other] {
      let found = try reader.resolve("native://beta", params: [:], for: caller).route?.name
      #expect(found == (caller === mine ? "beta" : nil))
    }
  }

  @Test func redirectUsesFirstMatchingBranch() throws {
    let router = Router()
    let branches: [Redirect.Branch] = [
      .init(
        to: nil, rollout: RouteRollout(clients: [.init(name: "shop", versions: try range(">=6"))])),
      .init(
        to: try PatternTarget("https://h5.example/a/:id"), rollout: RouteRollout(share: 0..<0.3)),
      .init(
        to: try PatternTarget("https://h5.example/b/:id"), rollout: RouteRollout(share: 0.3..<0.6)),
      .init(to: try PatternTarget("native://gone")),
    ]
    try router.redirect(contentsOf: [
      Redirect(from: RoutePattern("native://item/:id"), branches: branches)
    ])
    let snapshot = router.snapshot()
    var counts: [String: Int] = [:]
    for number in 0..<1000 {
      let found = try snapshot.resolve(
        RouteURI("native://item/7"), for: caller(session: "s\(number)"))
      counts[found.uri.text, default: 0] += 1
    }
    #expect(
      Set(counts.keys) == [
        "https://h5.example/a/7", "https://h5.example/b/7", "native://gone?id=7",
      ])
    #expect(counts.values.allSatisfy { (240...460).contains($0) })
    let newest = try snapshot.resolve(RouteURI("native://item/7"), for: caller("u", "shop", "6"))
    #expect(newest.uri.text == "native://item/7")
  }

  @Test func explainsRolloutDecisions() throws {
    let router = try router()
    let explanation = router.explain("native://list", for: caller("u", "shop", "4"))
    #expect(explanation.route?.name == "old")
    #expect(explanation.rollouts == ["route 'new': it is for shop >=5, not for shop 4"])
    #expect(
      explanation.candidates.map(\.reason) == [
        "not released here: it is for shop >=5, not for shop 4", "the best match",
      ])
    try router.redirect(contentsOf: [
      Redirect(
        from: RoutePattern("native://x"),
        branches: [
          .init(to: PatternTarget("native://y"), rollout: RouteRollout(share: 0..<0)),
          .init(to: PatternTarget("native://z")),
        ])
    ])
    let redirected = router.explain("native://x", for: caller("ann"))
    #expect(redirected.redirects == ["native://z"])
    let place =
      "\((RouteRollout.position(of: caller("ann"), salt: "native://x") * 10_000).rounded() / 10_000)"
    #expect(
      redirected.rollouts == [
        "redirect from 'native://x': branch 0 (to 'native://y') is not taken: the user 'ann' has the"
          + " place \(place), outside of 0.0 to 0.0; branch 1 (to 'native://z') is taken: it is for everybody"
      ])
  }
}
