import WayPatterns

/// A part of an app that registers when one of its routes is called first or, where it names none,
/// when the router starts.
///
/// The build plugin `WaybridgeModules` finds types that conform, in the sources of a target and of
/// those that it depends on, and writes a function that registers them all,
/// `Router.registerModules()`. It finds a type that names this protocol itself where it is declared
/// or extended, at the top level of a file. It does not find a nested type, nor a conformance by a
/// refined protocol, a type alias or a macro, nor, in another package, what is not declared public:
/// ``Router/register(module:)`` registers such a type. What it finds and should not register
/// conforms to ``RegisteredByHand``.
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
  /// Names the module in errors; the name of the type, where the module says nothing.
  static var name: String { get }
  /// When in the start the module's routes are registered; with the pages, where the module says
  /// nothing. Every ``RouteService`` is there by then, and its methods behind ``StartPhase/tasks``.
  static var phase: StartPhase { get }
  /// The routes that it declares, without their handlers; none, where the module says nothing.
  /// Throws what hinders the start.
  static func routes() throws -> [Route]
  /// The names of routes that are declared already, for instance by a table, and get their handlers
  /// from the module; none, where the module says nothing.
  static var serving: [String] { get }
  /// Gives the routes their handlers, by ``Router/handle(_:with:)``, when one of them is called
  /// first; without any routes, registers when the router starts. When it throws, the call or the
  /// start fails, and the next call tries again.
  static func register(in router: Router) async throws
}

extension RouteModule {
  /// The name of the type.
  public static var name: String { "\(Self.self)" }
  /// With the pages.
  public static var phase: StartPhase { .pages }
  /// None. Never throws.
  public static func routes() throws -> [Route] { [] }
  /// None.
  public static var serving: [String] { [] }
}

extension Router {
  /// Has a module register: in its phase of the start what it declares, the rest when it is called
  /// first. A second time changes nothing.
  ///
  /// Throws ``RouterError/started`` when the start has begun. What the module throws, and a route
  /// that another module serves, fail the start, as ``RegistrationError``.
  public func register<Module: RouteModule>(module: Module.Type) throws(RouterError) {
    let isTaken = startup.add(module.phase, once: ObjectIdentifier(module)) { router in
      do {
        let routes = try module.routes()
        if routes.isEmpty, module.serving.isEmpty {
          try await module.register(in: router)
        } else {
          try router.module(
            module.name, routes: routes, serving: module.serving, register: module.register)
        }
      } catch {
        throw RegistrationError(name: module.name, underlying: error)
      }
    }
    guard isTaken else { throw .started }
  }
}
