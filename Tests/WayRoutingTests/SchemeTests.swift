import Testing
import WayNavigation
import WayPatterns
import WayRouting
import WayValues

@Suite struct SchemeTests {
  @Test(
    "provides the built-in dispatchers",
    arguments: [
      ("native", "page"), ("flutter", "page"), ("http", "page"), ("https", "page"),
      ("wxmp", "page"), ("action", "task"), ("service", "service"), ("system", "task"),
      ("tel", "task"), ("mailto", "task"), ("sms", "task"), ("settings", "task"), ("tp", "task"),
      ("HTTPS", "page"),
      ("own", "none"),
    ])
  func providesBuiltInDispatchers(scheme: String, action: String) throws {
    #expect(try dispatcherKind(Router(), "\(scheme)://x?i=a:b") == action)
  }

  private func dispatcherKind(_ router: Router, _ uri: String) throws -> String {
    guard case .unmatched(let place, _) = try router.snapshot().resolve(RouteURI(uri))
    else {
      return "declared"
    }
    switch place.dispatcher?.action {
    case .page: return "page"
    case .task: return "task"
    case .service: return "service"
    case .navigation: return "navigation"
    case .custom: return "custom"
    case nil: return "none"
    }
  }

  @Test func `an undeclared URI keeps its parameters`() throws {
    let uri = try RouteURI("native://x?a=1&b=2")
    guard
      case .unmatched(_, let params) = try Router().snapshot().resolve(uri, params: ["b": 3])
    else { throw NoMatchError(uri: uri.text) }
    #expect(params == ["a": "1", "b": 3])
  }

  @Test func `dispatchers are registered and removed at run time`() throws {
    let router = Router()
    try router.page("own://a")
    #expect(try router.route("own://a") == "own://a")
    try router.register(SchemeDispatcher(name: "own", action: .page), scheme: "OWN")
    #expect(try router.route("own://a") == "own://a")
    try router.removeDispatcher(scheme: "own")
    let removed = RouterResolutionError.noRoute(uri: "own://a", kind: .noDispatcher)
    #expect(throws: removed) { try router.snapshot().resolve(RouteURI("own://a")) }
    #expect(throws: RouterResolutionError.self) { try router.snapshot().resolve(RouteURI("OWN:")) }
    #expect(try router.route("native://a") == nil, "other schemes are not disturbed")
    try router.register(SchemeDispatcher(name: "own", action: .page), scheme: "own")
    #expect(try router.route("own://a") == "own://a")
    #expect(throws: RouterConfigurationError.invalidScheme("1a")) {
      try router.setScheme("1a", isClosed: true)
    }
    #expect(throws: RouterConfigurationError.invalidScheme("")) {
      try router.removeDispatcher(scheme: "")
    }
    #expect(throws: RouterConfigurationError.invalidScheme("a:")) {
      try router.register(SchemeDispatcher(name: "a", action: .task), scheme: "a:")
    }
  }

  @Test(
    "rejects a route whose kind its scheme does not accept",
    arguments: [
      ("native://a", RouteKind.task), ("https://a.b/c", .task), ("action://a", .page),
      ("service://A/b", .task), ("navigation:forward", .page), ("tel::number", .page),
    ])
  func rejectsRouteOfUnsupportedKind(pattern: String, kind: RouteKind) throws {
    let route = Route(name: "a", patterns: [try RoutePattern(pattern)], kind: kind)
    let error = #expect(throws: RouterConfigurationError.self) { try Router().register(route) }
    #expect(error?.description.contains("is a \(kind.rawValue)") == true)
  }

  @Test func `a global route serves only schemes that accept its kind`() throws {
    let router = Router()
    try router.page("/a/:id", name: "page")
    try router.task("/a/:id", name: "task", priority: 1) { _ in nil }
    #expect(try router.route("native://a/1") == "page")
    #expect(try router.route("action://a/1") == "task")
    #expect(try router.route("own://a/1") == "task")
    #expect(try router.route("service://a/1") == nil)
  }

  @Test func `a scheme's route of the wrong kind is an error`() throws {
    let router = Router()
    try router.page("own://a")
    try router.register(SchemeDispatcher(name: "own", action: .task), scheme: "own")
    #expect(throws: RouterResolutionError.wrongKind(uri: "own://a", route: "own://a", kind: .page))
    {
      try router.snapshot().resolve(RouteURI("own://a"))
    }
  }

  @Test func `a closed scheme ignores global routes`() throws {
    let router = Router()
    try router.page("/a")
    try router.page("native://b")
    #expect(try router.route("native://a") == "/a")
    try router.setScheme("Native", isClosed: true)
    #expect(try router.route("native://a") == nil)
    #expect(try router.route("native://b") == "native://b")
    #expect(try router.route("flutter://a") == "/a")
    try router.setScheme("native", isClosed: false)
    #expect(try router.route("native://a") == "/a")
  }

  @Test(
    "resolves navigation URIs",
    arguments: [
      ("navigation:back?count=2", "back", ["count": "2"]), ("navigation://back", "back", [:]),
      ("navigation:/back/", "back", [:]), ("NAVIGATION:finish", "finish", [:]),
    ] as [(String, String, ValueObject)])
  func resolvesNavigationURI(uri: String, operation: String, params: ValueObject) throws {
    guard
      case .navigation(_, let found, let given) = try Router().snapshot().resolve(RouteURI(uri))
    else { throw NoMatchError(uri: uri) }
    #expect(found == operation)
    #expect(given == params)
  }

  @Test(
    "rejects invalid navigation URIs",
    arguments: ["navigation:", "navigation:back/1", "navigation://a/b"])
  func rejectsInvalidNavigationURI(uri: String) {
    #expect(throws: RouterResolutionError.noRoute(uri: uri, kind: .noRoute)) {
      try Router().snapshot().resolve(RouteURI(uri))
    }
  }

  @Test(
    "requires a valid URI in the parameter i",
    arguments: [
      ("tp://open?i=weixin%3A%2F%2Fdl", true), ("tp://open", false), ("tp://open?i=", false),
      ("tp://open?i=a/b", false), ("tp://open?i=a%20b:c", false), ("tp://open?i=a:b&i=c:d", false),
    ])
  func validatesThirdPartyURI(uri: String, isValid: Bool) throws {
    let router = Router()
    #expect(((try? router.snapshot().resolve(RouteURI(uri))) != nil) == isValid)
    try router.task("tp://open") { _ in nil }
    #expect(((try? router.match(uri)) != nil) == isValid)
    #expect(throws: Never.self) { try router.match("tp://open", ["i": "x:"]) }
  }

  @Test func `a custom dispatcher handles declared and undeclared URIs`() throws {
    let router = Router()
    try router.register(
      SchemeDispatcher(name: "own", action: .custom { _ in "own" }), scheme: "own")
    #expect(try dispatcherKind(router, "own://a") == "custom")
    try router.page("own://a/:id")
    let match = try router.match("own://a/1")
    #expect(match.customHandler != nil)
    #expect(match.params == ["id": "1"])
  }

  @Test func `rejects a reference without a scheme`() throws {
    let error = #expect(throws: RouterResolutionError.self) {
      try Router().snapshot().resolve(RouteURI("/a"))
    }
    #expect(error == .invalidURI(RouteURIError.noScheme))
  }
}

extension RouteURIError {
  /// The error for a relative reference where a URI is required.
  static let noScheme = RouteURIError(.noScheme, at: 0)
}
