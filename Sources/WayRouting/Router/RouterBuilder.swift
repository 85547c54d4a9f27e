import WayNavigation
import WayPatterns
import WayValues

/// All that is registered with a router. It makes the router's snapshots. Unless stated otherwise,
/// a method that throws has changed nothing.
struct RouterBuilder: Sendable {
  /// A service and the routes of its methods.
  struct ServiceEntry: Sendable {
    var name: String
    var slot: any Sendable
    /// The ``RouteService``, if one was registered.
    var provider: ObjectIdentifier?
    var methods: [Registration] = []
  }

  private(set) var routes = RouteRegistry()
  private var schemes: [String: RouterSchemeTable.SchemeRule] { didSet { schemeTable = nil } }
  var redirects = RedirectList() { didSet { redirectTable = nil } }
  /// The interceptors in the order in which they were added.
  var interceptors: [Interceptor] = [] { didSet { interceptorTable = nil } }
  /// The gates that code has added, in order.
  var gates: [Gate] = [] { didSet { interceptorTable = nil } }
  /// The services by type.
  var services: [ObjectIdentifier: ServiceEntry] = [:]
  var settings = RouterSettings()
  /// The declarations of tables except routes and redirects.
  private var declared = DeclaredRules() {
    didSet {
      schemeTable = nil
      interceptorTable = nil
    }
  }

  // The tables of the last snapshot; each is `nil` if it has to be built again.
  private var schemeTable: RouterSchemeTable?
  private var redirectTable: RedirectTable?
  private var interceptorTable: InterceptorTable?

  init() {
    schemes = Dictionary(
      uniqueKeysWithValues: SchemeDispatcher.builtIn.map { ($0, .init(dispatcher: $1)) })
  }

  /// Returns a snapshot, which shares with the last one the tables that are not built again.
  mutating func makeSnapshot(version: Int) -> RouterSnapshot {
    let schemes = schemeTable ?? RouterSchemeTable(declared.completing(schemes))
    let redirects = redirectTable ?? RedirectTable(redirects.redirects)
    let interceptors =
      interceptorTable ?? InterceptorTable(interceptors, gates: declared.completing(gates))
    (schemeTable, redirectTable, interceptorTable) = (schemes, redirects, interceptors)
    var settings = declared.completing(settings)
    settings.declaredNames = routes.declaredNames
    settings.orphanedHandlers = routes.orphanedHandlers
    return RouterSnapshot(
      version: version, settings: settings, routes: routes.table(), schemes: schemes,
      interceptors: interceptors, redirects: redirects)
  }

  /// Changes the rule of a scheme.
  mutating func change(
    _ scheme: String, _ change: (inout RouterSchemeTable.SchemeRule) -> Void
  ) throws(RouterConfigurationError) {
    guard RouteURI.isScheme(scheme) else { throw .invalidScheme(scheme) }
    change(&schemes[scheme.lowercased(), default: .init()])
  }

  /// Adds the declarations of a table. If this throws, some of them may have been added.
  mutating func declare(
    _ declarations: RouterDeclarations, replacing: Bool
  ) throws(RouterConfigurationError) {
    for route in declarations.routes where !routes.isReplaced(route.name) { try check(route) }
    try routes.declare(declarations.routes, replacing: replacing)
    try redirects.declare(declarations.redirects, replacing: replacing)
    if replacing { declared = DeclaredRules() }
    declared.add(declarations)
    settings.table = declarations.stamp
  }
}

// Routes, which are checked before they are registered.
extension RouterBuilder {
  /// Adds a route. If `replacing` is `true`, it replaces the one with the same name.
  mutating func add(
    _ route: Route, replacing: Bool
  ) throws(RouterConfigurationError) -> Registration {
    try check(route)
    return try routes.add(route, replacing: replacing)
  }

  /// Adds all routes, or none of them if one is rejected.
  mutating func add(contentsOf routes: [Route]) throws(RouterConfigurationError) -> [Registration] {
    for route in routes { try check(route) }
    return try self.routes.add(contentsOf: routes)
  }

  mutating func replace(
    _ registration: Registration, with route: Route
  ) throws(RouterConfigurationError) -> Registration {
    try check(route)
    return try routes.replace(registration, with: route)
  }

  mutating func replace(
    _ name: String, with route: Route
  ) throws(RouterConfigurationError) -> Registration {
    try check(route)
    return try routes.replace(name, with: route)
  }

  mutating func remove(_ registration: Registration) -> Bool { routes.remove(registration) }

  mutating func remove(_ name: String) -> Bool { routes.remove(name) }

  mutating func bind(_ name: String, to handler: RouteHandler) throws(RouterConfigurationError) {
    try routes.bind(name, to: handler)
  }

  /// Returns the module that has yet to give a route its handler.
  func module(of name: String) -> LazyModule? {
    guard case .lazy(let module)? = routes[name]?.handler else { return nil }
    return module
  }

  /// Checks that the parts of a route fit one another and the dispatchers.
  private func check(_ route: Route) throws(RouterConfigurationError) {
    guard !route.name.isEmpty, !route.patterns.isEmpty else {
      throw .incomplete(route: route.name)
    }
    guard route.handler.supports(route.kind) else {
      throw .handlerMismatch(route: route.name, kind: route.kind)
    }
    var names: Set<UTF8Key> = []
    for parameter in route.parameters {
      let fault =
        names.insert(UTF8Key(parameter.name)).inserted
        ? parameter.contradiction : "it is declared twice"
      if let fault {
        throw .invalidParameter(route: route.name, parameter: parameter.name, reason: fault)
      }
    }
    for pattern in route.patterns {
      if let name = route.fallback?.firstParameter(missingIn: pattern) {
        throw .invalidFallback(route: route.name, parameter: name, pattern: pattern.text)
      }
      if let scheme = pattern.scheme, let dispatcher = schemes[scheme]?.dispatcher,
        !dispatcher.accepts(route.kind)
      {
        throw .kindMismatch(
          route: route.name, kind: route.kind, scheme: scheme, dispatcher: dispatcher.name)
      }
    }
  }
}
