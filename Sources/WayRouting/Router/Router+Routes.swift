import WayNavigation
import WayPatterns
import WayValues

extension Router {
  /// Registers a route. If `replacing` is `true`, it replaces the route with the same name.
  ///
  /// Throws ``RouterConfigurationError``, with nothing changed, if another route has the name or a
  /// pattern. Throws it too if route, patterns, parameters and handler do not fit one another.
  @discardableResult
  public func register(
    _ route: Route, replacing: Bool = false
  ) throws(RouterConfigurationError) -> Registration {
    try change { (builder) throws(RouterConfigurationError) in
      try builder.add(route, replacing: replacing)
    }
  }

  /// Registers all routes, or none of them if one is rejected. Throws the errors of
  /// ``register(_:replacing:)``.
  @discardableResult
  public func register(contentsOf routes: [Route]) throws(RouterConfigurationError)
    -> [Registration]
  {
    try change { (builder) throws(RouterConfigurationError) in
      try builder.add(contentsOf: routes)
    }
  }

  /// Registers a task that returns at once. It runs on the thread of the caller's session and must
  /// not block.
  ///
  /// By default the name is the pattern. Throws the errors of ``register(_:replacing:)``. The call
  /// fails with an error that the handler throws.
  @discardableResult
  public func task(
    _ pattern: String, name: String? = nil, priority: Int = 0,
    _ handler: @escaping @Sendable (Call) throws -> Value
  ) throws(RouterConfigurationError) -> Registration {
    try register(pattern, name, .task, priority, .task(handler))
  }

  /// Registers a task that may wait, in a Swift task of its own that is cancelled when no caller
  /// waits for it any more.
  ///
  /// By default the name is the pattern. Throws the errors of ``register(_:replacing:)``. The call
  /// fails with an error that the handler throws.
  @discardableResult
  public func task(
    _ pattern: String, name: String? = nil, priority: Int = 0,
    _ handler: @escaping @Sendable (Call) async throws -> Value
  ) throws(RouterConfigurationError) -> Registration {
    try register(pattern, name, .task, priority, .asyncTask(handler))
  }

  /// Registers a page that a host shows, or that `handler` shows. Throws the errors of
  /// ``register(_:replacing:)``.
  @discardableResult
  public func page(
    _ pattern: String, name: String? = nil, priority: Int = 0, _ handler: PageHandler? = nil
  ) throws(RouterConfigurationError) -> Registration {
    try register(pattern, name, .page, priority, handler.map(RouteHandler.page) ?? .hosted)
  }

  /// Replaces a registered route, also in the order among routes of the same rank.
  ///
  /// Throws the errors of ``register(_:replacing:)``, and
  /// ``RouterConfigurationError/unknownRoute(_:)`` if the registration is no longer valid.
  @discardableResult
  public func replace(
    _ registration: Registration, with route: Route
  ) throws(RouterConfigurationError) -> Registration {
    try change { (builder) throws(RouterConfigurationError) in
      try builder.replace(registration, with: route)
    }
  }

  /// Removes a route; returns `false` if the registration is no longer valid.
  @discardableResult
  public func remove(_ registration: Registration) -> Bool {
    change { $0.remove(registration) }
  }

  /// Replaces the route with a name, regardless of its origin, also in the order among routes of
  /// the same rank.
  ///
  /// Throws the errors of ``register(_:replacing:)``, and
  /// ``RouterConfigurationError/unknownRoute(_:)`` for a name that no route has.
  @discardableResult
  public func replace(
    route name: String, with route: Route
  ) throws(RouterConfigurationError) -> Registration {
    try change { (builder) throws(RouterConfigurationError) in
      try builder.replace(name, with: route)
    }
  }

  /// Removes the route with a name, regardless of its origin; returns `false` if there is none.
  @discardableResult
  public func remove(route name: String) -> Bool {
    change { $0.remove(name) }
  }

  /// Sets the handler of a route that is declared already, for instance by a table.
  ///
  /// Throws ``RouterConfigurationError/unknownRoute(_:)`` for a name that no route has, and
  /// ``RouterConfigurationError/handlerMismatch(route:kind:)`` for a handler of another kind.
  public func handle(_ name: String, with handler: RouteHandler) throws(RouterConfigurationError) {
    try change { (builder) throws(RouterConfigurationError) in try builder.bind(name, to: handler) }
  }

  /// Removes the handler of a route, so that hosts serve it again. Throws
  /// ``RouterConfigurationError/unknownRoute(_:)`` for a name that no route has.
  public func removeHandler(_ name: String) throws(RouterConfigurationError) {
    try handle(name, with: .hosted)
  }

  private func register(
    _ pattern: String, _ name: String?, _ kind: RouteKind, _ priority: Int, _ handler: RouteHandler
  ) throws(RouterConfigurationError) -> Registration {
    let parsed: RoutePattern
    do { parsed = try RoutePattern(pattern) } catch { throw .invalidPattern(error) }
    return try register(
      Route(
        name: name ?? pattern, patterns: [parsed], kind: kind, priority: priority, handler: handler)
    )
  }
}

extension Router {
  /// Registers a task with parameters that are decoded into a type and a result that is encoded
  /// from one. It returns at once, on the thread of the caller's session, and must not block.
  ///
  /// Strings of path and query are parsed if the type expects a number or boolean. If the
  /// parameters do not fit, the caller receives 2422 with the path of the fault before `handler`
  /// runs.
  @discardableResult
  public func task<Request: Decodable & Sendable, Response: Encodable & SendableMetatype>(
    _ pattern: String, name: String? = nil, priority: Int = 0,
    _ handler: @escaping @Sendable (Request, Call) throws -> Response
  ) throws(RouterConfigurationError) -> Registration {
    try task(pattern, name: name, priority: priority) { call in
      try ValueEncoder().encode(try handler(try call.decode(), call))
    }
  }

  /// Registers a task that may wait; otherwise like the task that returns at once.
  @discardableResult
  public func task<Request: Decodable & Sendable, Response: Encodable & SendableMetatype>(
    _ pattern: String, name: String? = nil, priority: Int = 0,
    _ handler: @escaping @Sendable (Request, Call) async throws -> Response
  ) throws(RouterConfigurationError) -> Registration {
    try task(pattern, name: name, priority: priority) { call in
      let request: Request = try call.decode()
      return try ValueEncoder().encode(try await handler(request, call))
    }
  }
}

extension Router {
  /// Adds routes to a group; routes that are in it already stay. A route that is registered again
  /// under its name is in the group again.
  ///
  /// Throws ``RouterConfigurationError/unknownRoute(_:)`` if one of the names is not registered;
  /// then none is added.
  public func add(routes names: [String], toGroup group: String) throws(RouterConfigurationError) {
    try change { (builder) throws(RouterConfigurationError) in
      for name in names where builder.routes[name] == nil { throw .unknownRoute(name) }
      for name in names { builder.settings.addedGroups.add(name, to: group) }
    }
  }

  /// Removes a route from a group that ``add(routes:toGroup:)`` added it to; returns `false` if it
  /// did not.
  @discardableResult
  public func remove(route name: String, fromGroup group: String) -> Bool {
    change { $0.settings.addedGroups.remove(name, from: group) }
  }
}
