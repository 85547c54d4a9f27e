import Testing
import WayPatterns
import WayRouting
import WayTable
import WayValues

/// A table that replaces another one in a router.
struct TableReloadTests {
  private let router = Router()
  private static let initialDocument: Value = [
    "version": "1",
    "routes": [
      ["name": "home", "pattern": "native://home", "kind": "page"],
      ["name": "share", "pattern": "action://share", "kind": "task"],
      ["name": "item", "pattern": "native://item/:id", "kind": "page"],
    ],
    "redirects": [
      ["from": "native://old", "to": "native://home"],
      ["from": "native://mine", "to": "native://home"],
    ],
    "schemes": ["native": ["closed": true, "undefined": "native://home"]],
    "tabs": ["native://home"], "actions": ["a": "native://home"], "plusIsSpace": false,
  ]

  private func load(_ document: Value, replacing: Bool = false) throws {
    try RouteTable(parsing: document).apply(to: router, replacing: replacing)
  }

  private func reload(_ routes: [Value], _ more: ValueObject = [:]) throws {
    var document: ValueObject = ["version": "2", "routes": .array(routes)]
    document.merge(more)
    try load(.object(document), replacing: true)
  }

  private func resolution(of uri: String) throws -> String? {
    let found = try router.snapshot().resolve(RouteURI(uri))
    return found.route?.name ?? found.uri.text
  }

  private var routeNames: [String] { router.snapshot().routes.map(\.name) }

  @Test func replacesOwnRoutesAndKeepsOthers() throws {
    try router.task("action://before") { _ in 0 }
    try load(Self.initialDocument)
    try router.task("action://after") { _ in 0 }
    // Routes may exchange names and patterns.
    try reload([
      ["name": "item", "pattern": "native://home", "kind": "page"],
      ["name": "home", "pattern": "native://item/:id", "kind": "page"],
      ["name": "new", "pattern": "native://new", "kind": "page"],
    ])
    #expect(routeNames == ["action://before", "item", "home", "new", "action://after"])
    #expect(try resolution(of: "native://home") == "item")
    #expect(try resolution(of: "action://share") == "action://share")
    #expect(try resolution(of: "action://after") == "action://after")
    #expect(router.snapshot().table?.version == "2")
  }

  @Test func removesOtherDeclarationsOfOldTable() throws {
    try load(Self.initialDocument)
    #expect(router.snapshot().table?.version == "1")
    try router.page("/global")
    #expect(try resolution(of: "native:/global") == "native:/global")
    try reload([])
    #expect(try resolution(of: "native:/global") == "/global")
    #expect(try resolution(of: "native://old") == "native://old")
    let snapshot = router.snapshot()
    #expect(snapshot.tabs == [])
    #expect(throws: RouterResolutionError.self) { try snapshot.deepLink(action: "a", url: nil) }
    #expect(try snapshot.undefinedTarget(of: RouteURI("native://none")) == nil)
    #expect(snapshot.plusIsSpace)
  }

  @Test func keepsSettingsOfOtherCode() throws {
    try load(Self.initialDocument)
    try router.setScheme("native", isClosed: false)
    try router.setUndefinedRoute(scheme: "native", leadsTo: nil)
    try router.setTabs([])
    try router.setActions(["b": "native://home"])
    router.setDecodesPlusAsSpace(true)
    try router.redirect("native://mine", to: "native://own")
    try router.redirect("native://more", to: "native://own")
    let own = Route(name: "share", patterns: [try RoutePattern("action://own")], kind: .task)
    try router.replace(route: "share", with: own)
    try load(Self.initialDocument, replacing: true)
    let snapshot = router.snapshot()
    #expect(snapshot.tabs == [])
    #expect(try snapshot.deepLink(action: "b", url: nil).uri == "native://home")
    #expect(throws: RouterResolutionError.self) { try snapshot.deepLink(action: "a", url: nil) }
    #expect(snapshot.plusIsSpace)
    #expect(try snapshot.undefinedTarget(of: RouteURI("native://none")) == nil)
    #expect(try resolution(of: "native://mine") == "native://own")
    #expect(try resolution(of: "native://more") == "native://own")
    #expect(try resolution(of: "native://old") == "home")
    #expect(try resolution(of: "action://own") == "share")
    #expect(try resolution(of: "action://share") == "action://share")
  }

  @Test func keepsHandlersByRouteName() throws {
    try load(Self.initialDocument)
    try router.handle("share", with: .task { _ in 7 })
    try reload([])
    try load(Self.initialDocument, replacing: true)
    #expect(isHosted("share") == false)
    try router.removeHandler("share")
    try load(Self.initialDocument, replacing: true)
    #expect(isHosted("share") == true)
  }

  private func isHosted(_ name: String) -> Bool? {
    router.snapshot().routes.first { $0.name == name }.map { route in
      if case .hosted = route.handler { true } else { false }
    }
  }

  @Test func restoresRouteRemovedByOtherCode() throws {
    try load(Self.initialDocument)
    #expect(router.remove(route: "share"))
    #expect(!router.remove(route: "share"))
    #expect(try resolution(of: "action://share") == "action://share")
    try load(Self.initialDocument, replacing: true)
    #expect(try resolution(of: "action://share") == "share")
  }

  @Test func rejectedReloadChangesNothing() throws {
    try load(Self.initialDocument)
    try router.handle("share", with: .task { _ in 7 })
    try router.task("action://mine", name: "mine") { _ in 0 }
    let rejected: [Value] = [
      ["name": "mine", "pattern": "action://other", "kind": "task"],
      ["name": "other", "pattern": "action://mine", "kind": "task"],
      ["name": "share", "pattern": "native://share", "kind": "page"],
    ]
    for route in rejected {
      #expect(throws: RouterConfigurationError.self) { try reload([route]) }
      #expect(routeNames == ["home", "share", "item", "mine"])
      #expect(try resolution(of: "native://old") == "home")
    }
    try router.redirect("native://a/:x", to: "native://home")
    #expect(throws: RouterConfigurationError.self) {
      try reload([], ["redirects": [["from": "native://a/:y", "to": "native://home"]]])
    }
    #expect(routeNames == ["home", "share", "item", "mine"])
    #expect(router.snapshot().table?.version == "1")
  }

  @Test func repeatedReloadsLeaveNoOldRoutes() throws {
    for version in 0..<200 {
      let routes = (0..<5).map { number -> Value in
        ["name": "r\(number)-\(version)", "pattern": "native://p\(number)", "kind": "page"]
      }
      try reload(routes.map { $0 })
    }
    #expect(routeNames == (0..<5).map { "r\($0)-199" })
    #expect(try resolution(of: "native://p4") == "r4-199")
  }
}
