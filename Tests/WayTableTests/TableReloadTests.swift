import Testing
import WayPatterns
import WayRouting
import WayTable
import WayValues

/// A table that is loaded anew into a router.
struct TableReloadTests {
  private let router = Router()
  private static let first: Value = [
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

  private func load(_ document: Value, anew: Bool = false) throws {
    try RouteTable(parsing: document).apply(to: router, anew: anew)
  }

  private func reload(_ routes: [Value], _ more: ValueObject = [:]) throws {
    var document: ValueObject = ["version": "2", "routes": .list(routes)]
    document.merge(more)
    try load(.object(document), anew: true)
  }

  private func place(of uri: String) throws -> String? {
    let found = try router.snapshot().resolve(RouteURI(uri))
    return found.route?.name ?? found.uri.text
  }

  private var names: [String] { router.snapshot().routes.map(\.name) }

  @Test func itsRoutesAreReplacedAsOneAndThoseOfOtherCodeStay() throws {
    try router.task("action://before") { _ in 0 }
    try load(Self.first)
    try router.task("action://after") { _ in 0 }
    // Names and patterns may change places.
    try reload([
      ["name": "item", "pattern": "native://home", "kind": "page"],
      ["name": "home", "pattern": "native://item/:id", "kind": "page"],
      ["name": "new", "pattern": "native://new", "kind": "page"],
    ])
    #expect(names == ["action://before", "item", "home", "new", "action://after"])
    #expect(try place(of: "native://home") == "item")
    #expect(try place(of: "action://share") == "action://share")
    #expect(try place(of: "action://after") == "action://after")
    #expect(router.snapshot().table?.version == "2")
  }

  @Test func whatElseItDeclaredGoesWithIt() throws {
    try load(Self.first)
    #expect(router.snapshot().table?.version == "1")
    try router.page("/global")
    #expect(try place(of: "native:/global") == "native:/global")
    try reload([])
    #expect(try place(of: "native:/global") == "/global")
    #expect(try place(of: "native://old") == "native://old")
    let snapshot = router.snapshot()
    #expect(snapshot.tabs == [])
    #expect(throws: ResolutionError.self) { try snapshot.link(action: "a", url: nil) }
    #expect(try snapshot.undefinedTarget(of: RouteURI("native://none")) == nil)
    #expect(snapshot.plusIsSpace)
  }

  @Test func whatOtherCodeHasSetStays() throws {
    try load(Self.first)
    try router.closeScheme("native", false)
    try router.undefinedRoute(scheme: "native", leadsTo: nil)
    try router.setTabs([])
    try router.setActions(["b": "native://home"])
    router.setPlusIsSpace(true)
    try router.redirect("native://mine", to: "native://own")
    try router.redirect("native://more", to: "native://own")
    let own = Route(name: "share", patterns: [try RoutePattern("action://own")], kind: .task)
    try router.replace(route: "share", with: own)
    try load(Self.first, anew: true)
    let snapshot = router.snapshot()
    #expect(snapshot.tabs == [])
    #expect(try snapshot.link(action: "b", url: nil).uri == "native://home")
    #expect(throws: ResolutionError.self) { try snapshot.link(action: "a", url: nil) }
    #expect(snapshot.plusIsSpace)
    #expect(try snapshot.undefinedTarget(of: RouteURI("native://none")) == nil)
    #expect(try place(of: "native://mine") == "native://own")
    #expect(try place(of: "native://more") == "native://own")
    #expect(try place(of: "native://old") == "home")
    #expect(try place(of: "action://own") == "share")
    #expect(try place(of: "action://share") == "action://share")
  }

  @Test func aHandlerStaysWithTheNameOfItsRoute() throws {
    try load(Self.first)
    try router.handle("share", with: .task { _ in 7 })
    try reload([])
    try load(Self.first, anew: true)
    #expect(isHosted("share") == false)
    try router.unbind("share")
    try load(Self.first, anew: true)
    #expect(isHosted("share") == true)
  }

  private func isHosted(_ name: String) -> Bool? {
    router.snapshot().routes.first { $0.name == name }.map { route in
      if case .hosted = route.handler { true } else { false }
    }
  }

  @Test func aRouteThatOtherCodeRemovedIsBack() throws {
    try load(Self.first)
    #expect(router.remove(route: "share"))
    #expect(!router.remove(route: "share"))
    #expect(try place(of: "action://share") == "action://share")
    try load(Self.first, anew: true)
    #expect(try place(of: "action://share") == "share")
  }

  @Test func oneThatIsRefusedChangesNothing() throws {
    try load(Self.first)
    try router.handle("share", with: .task { _ in 7 })
    try router.task("action://mine", name: "mine") { _ in 0 }
    let refused: [Value] = [
      ["name": "mine", "pattern": "action://other", "kind": "task"],
      ["name": "other", "pattern": "action://mine", "kind": "task"],
      ["name": "share", "pattern": "native://share", "kind": "page"],
    ]
    for route in refused {
      #expect(throws: RouterError.self) { try reload([route]) }
      #expect(names == ["home", "share", "item", "mine"])
      #expect(try place(of: "native://old") == "home")
    }
    try router.redirect("native://a/:x", to: "native://home")
    #expect(throws: RouterError.self) {
      try reload([], ["redirects": [["from": "native://a/:y", "to": "native://home"]]])
    }
    #expect(names == ["home", "share", "item", "mine"])
    #expect(router.snapshot().table?.version == "1")
  }

  @Test func manyReloadsLeaveNothingBehind() throws {
    for version in 0..<200 {
      let routes = (0..<5).map { number -> Value in
        ["name": "r\(number)-\(version)", "pattern": "native://p\(number)", "kind": "page"]
      }
      try reload(routes.map { $0 })
    }
    #expect(names == (0..<5).map { "r\($0)-199" })
    #expect(try place(of: "native://p4") == "r4-199")
  }
}
