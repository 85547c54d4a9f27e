import WayPatterns
import WayValues

/// A part of an app that registers its handlers when one of its routes is called first. If it names
/// no routes, it registers when the router starts.
///
/// The build plugin `WaybridgeModules` finds types that conform, in the sources of a target and of
/// its dependencies, and writes a function that registers them all, `Router.registerModules()`. It
/// finds a type that names this protocol itself in a declaration or extension at the top level of a
/// file. It does not find:
///
/// - a nested type;
/// - a conformance by a refined protocol, a type alias or a macro;
/// - in another package, a type that is not public.
///
/// ``Router/register(module:)`` registers such a type. A type that the plugin finds and should not
/// register conforms to ``ManualRegistration``.
///
/// ```swift
/// enum AddressModule: RouteModule {
///   static func routes() throws -> [Route] {
///     let pattern = try RoutePattern("action://address/count")
///     return [Route(name: "address.count", patterns: [pattern], kind: .task)]
///   }
///
///   static func register(in router: Router) async throws {
///     try router.handle("address.count", with: .task { _ in 3 })
///   }
/// }
/// ```
public protocol RouteModule: SendableMetatype {
  /// The name of the module in errors; by default the name of the type.
  static var name: String { get }
  /// The phase of the start in which the module's routes are registered; by default that of the
  /// pages. Every ``RouteService`` is registered by then, and its methods after
  /// ``StartPhase/tasks``.
  static var phase: StartPhase { get }
  /// Returns the routes that the module declares, without their handlers; by default none. If it
  /// throws, the start fails.
  static func routes() throws -> [Route]
  /// The names of routes that are declared already, for instance by a table, and get their handlers
  /// from the module; by default none.
  static var handledRoutes: [String] { get }
  /// Gives the routes their handlers, by ``Router/handle(_:with:)``, when one of them is called
  /// first. Without any routes, it runs when the router starts. If it throws, the call or the start
  /// fails, and the next call tries again.
  static func register(in router: Router) async throws
}

extension RouteModule {
  /// The name of the type.
  public static var name: String { "\(Self.self)" }
  /// With the pages.
  public static var phase: StartPhase { .pages }
  /// Returns no routes. Never throws.
  public static func routes() throws -> [Route] { [] }
  /// No routes.
  public static var handledRoutes: [String] { [] }
}

extension Router {
  /// Registers a module: its declarations in its phase of the start, the rest at the first call. A
  /// second registration changes nothing.
  ///
  /// Throws ``RouterConfigurationError/alreadyStarted`` if the start has begun. An error of the
  /// module, and a route that another module serves, fail the start, as ``RegistrationError``.
  public func register<Module: RouteModule>(module: Module.Type) throws(RouterConfigurationError) {
    let isAdded = startup.add(module.phase, once: ObjectIdentifier(module)) { router in
      do {
        let routes = try module.routes()
        if routes.isEmpty, module.handledRoutes.isEmpty {
          try await module.register(in: router)
        } else {
          try router.registerModule(
            module.name, routes: routes, handling: module.handledRoutes, register: module.register)
        }
      } catch {
        throw RegistrationError(name: module.name, underlying: error)
      }
    }
    guard isAdded else { throw .alreadyStarted }
  }
}

extension Router {
  /// Registers routes whose module registers their handlers when one of them is called first. That
  /// call, and others in the meantime, wait for the module and are then served. Until then lookups
  /// find the routes without loading the module.
  ///
  /// - Parameters:
  ///   - name: the name of the module in errors.
  ///   - routes: the routes that the module declares; their own handlers are ignored.
  ///   - names: routes that are declared already, for instance by a table.
  ///   - register: gives each of the routes its handler, by ``handle(_:with:)``. If it throws, the
  ///     call fails, and the next one tries again.
  ///
  /// Throws, with nothing registered, the errors of ``register(contentsOf:)`` and
  /// ``handle(_:with:)``. Throws ``RouterConfigurationError/moduleConflict(route:module:)`` for a
  /// route of a module that has not registered yet.
  public func registerModule(
    _ name: String, routes: [Route] = [], handling names: [String] = [],
    register: @escaping @Sendable (Router) async throws -> Void
  ) throws(RouterConfigurationError) {
    let module = LazyModule(name) { [weak self] in
      // Without its router nothing can call the module's routes.
      if let self { try await register(self) }
    }
    try change { (builder) throws(RouterConfigurationError) in
      let ownNames = routes.map(\.name)
      for name in ownNames + names {
        if let other = builder.module(of: name) {
          throw .moduleConflict(route: name, module: other.name)
        }
      }
      for name in names where builder.routes[name] == nil {
        guard ownNames.contains(where: { $0.isSameUTF8(as: name) }) else {
          throw .unknownRoute(name)
        }
      }
      _ = try builder.add(contentsOf: routes.map { $0.with(.lazy(module)) })
      // A lazy handler fits every route.
      for name in names { try builder.bind(name, to: .lazy(module)) }
    }
  }
}

/// A ``RouteModule`` or ``RouteService`` that the build plugin `WaybridgeModules` leaves out. The
/// app registers it by ``Router/register(module:)`` or ``Router/register(service:)``, or does not,
/// for example if it is only for tests.
///
/// A type declares the conformance at the top level of any file of its target; an `#if` around that
/// makes no difference. For a type of another package, the app declares it with the type's full
/// name, `extension Kit.Player: @retroactive ManualRegistration {}`.
public protocol ManualRegistration {}
