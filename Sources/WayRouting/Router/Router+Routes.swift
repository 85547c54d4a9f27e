import WayNavigation
import WayPatterns
import WayValues

extension Router {
  /// Registers a route. `replacing` puts it in the place of the route of its name, if there is one.
  ///
  /// Throws ``RouterError``, with nothing changed, when the name or a pattern is taken, or route,
  /// patterns, parameters and handler do not fit one another.
  @discardableResult
  public func register(
    _ route: Route, replacing: Bool = false
  ) throws(RouterError) -> Registration {
    try change { (state) throws(RouterError) in try state.add(route, replacing: replacing) }
  }

  /// Registers all routes, or none of them when one is refused. Throws as
  /// ``register(_:replacing:)``.
  @discardableResult
  public func register(contentsOf routes: [Route]) throws(RouterError) -> [Registration] {
    try change { (state) throws(RouterError) in
      var next = state
      var registrations: [Registration] = []
      for route in routes { registrations.append(try next.add(route, replacing: false)) }
      state = next
      return registrations
    }
  }

  /// Registers a task that returns at once. It runs on the thread of the caller's session: it must
  /// not block.
  ///
  /// The name is the pattern where none is given. Throws ``RouterError`` as
  /// ``register(_:replacing:)``. What the handler throws is the call's error.
  @discardableResult
  public func task(
    _ pattern: String, name: String? = nil, priority: Int = 0,
    _ handler: @escaping @Sendable (Call) throws -> Value
  ) throws(RouterError) -> Registration {
    try register(pattern, name, .task, priority, .task(handler))
  }

  /// Registers a task that may wait, in a Swift task of its own that is cancelled when nobody waits
  /// for it any more.
  ///
  /// The name is the pattern where none is given. Throws ``RouterError`` as
  /// ``register(_:replacing:)``. What the handler throws is the call's error.
  @discardableResult
  public func task(
    _ pattern: String, name: String? = nil, priority: Int = 0,
    _ handler: @escaping @Sendable (Call) async throws -> Value
  ) throws(RouterError) -> Registration {
    try register(pattern, name, .task, priority, .asyncTask(handler))
  }

  /// Registers a page: one that a host shows, or that `handler` shows. Throws ``RouterError`` as
  /// ``register(_:replacing:)``.
  @discardableResult
  public func page(
    _ pattern: String, name: String? = nil, priority: Int = 0, _ handler: PageHandler? = nil
  ) throws(RouterError) -> Registration {
    try register(pattern, name, .page, priority, handler.map(RouteHandler.page) ?? .hosted)
  }

  /// Puts a route in the place of a registered one, also in the order among equals.
  ///
  /// Throws as ``register(_:replacing:)``, and ``RouterError/unknown(_:)`` when the registration is
  /// not in force any more.
  @discardableResult
  public func replace(
    _ registration: Registration, with route: Route
  ) throws(RouterError) -> Registration {
    try change { (state) throws(RouterError) in try state.replace(registration, with: route) }
  }

  /// Removes a route; false when the registration is not in force any more.
  @discardableResult
  public func remove(_ registration: Registration) -> Bool {
    changeAlways { $0.remove(registration) }
  }

  /// Puts a route in the place of the one with a name, whoever has registered that, also in the
  /// order among equals.
  ///
  /// Throws as ``register(_:replacing:)``, and ``RouterError/unknown(_:)`` for a name that no route
  /// has.
  @discardableResult
  public func replace(
    route name: String, with route: Route
  ) throws(RouterError) -> Registration {
    try change { (state) throws(RouterError) in try state.replace(name, with: route) }
  }

  /// Removes the route of a name, whoever has registered it; false when there is none.
  @discardableResult
  public func remove(route name: String) -> Bool {
    changeAlways { state in
      state.registration(of: name).map { state.remove($0) } ?? false
    }
  }

  /// Lets a handler serve a route that is declared already, for instance by a table.
  ///
  /// Throws ``RouterError/unknown(_:)`` for a name that no route has,
  /// ``RouterError/handlerUnfit(route:kind:)`` for a handler of another kind.
  public func handle(_ name: String, with handler: RouteHandler) throws(RouterError) {
    try change { (state) throws(RouterError) in try state.bind(name, to: handler) }
  }

  /// Leaves a route to hosts again. Throws ``RouterError/unknown(_:)`` for a name that no route
  /// has.
  public func unbind(_ name: String) throws(RouterError) {
    try handle(name, with: .hosted)
  }

  private func register(
    _ pattern: String, _ name: String?, _ kind: RouteKind, _ priority: Int, _ handler: RouteHandler
  ) throws(RouterError) -> Registration {
    let parsed: RoutePattern
    do { parsed = try RoutePattern(pattern) } catch { throw .pattern(error) }
    return try register(
      Route(
        name: name ?? pattern, patterns: [parsed], kind: kind, priority: priority, handler: handler)
    )
  }
}
