/// How a service is made, so that it is registered with the others.
///
/// The build plugin `WaybridgeModules` finds the types that conform as it finds those that are a ``RouteModule``;
/// ``Router/register(service:)`` registers a single one.
///
/// ```swift
/// protocol Cart: Sendable {
///   func count() -> Int64
/// }
///
/// struct LocalCart: Cart, RouteService {
///   func count() -> Int64 { 3 }
///   static func make(for router: Router) throws -> any Cart { LocalCart() }
///   static func methods(_ service: inout ServiceMethods<any Cart>) throws(RouterError) {
///     try service.method("count") { cart, _ in .integer(cart.count()) }
///   }
/// }
/// ```
public protocol RouteService: SendableMetatype {
  /// What Swift code gets the service by, ``Router/service(_:)``; often a protocol.
  associatedtype Service: Sendable
  /// The service's name in `service://Name/method`; the name of the type, where it says nothing.
  static var name: String { get }
  /// Makes the service when it is first used, from any thread, once unless it throws. It may use other services.
  static func make(for router: Router) throws -> Service
  /// Names the methods that others may call; none, where it says nothing. Throws ``RouterError`` for a name that is none.
  static func methods(_ service: inout ServiceMethods<Service>) throws(RouterError)
}

extension RouteService {
  /// The name of the type.
  public static var name: String { "\(Self.self)" }
  /// None. Never throws.
  public static func methods(_ service: inout ServiceMethods<Service>) throws(RouterError) {}
}

extension Router {
  /// Registers a service in the phase ``StartPhase/tasks`` of the start.
  ///
  /// Throws ``RouterError/started`` when the start has begun. A method that is refused, and another service of the type,
  /// fail the start, as ``RegistrationError``.
  public func register<Service: RouteService>(service: Service.Type) throws(RouterError) {
    try atStart(.tasks) { router in
      do {
        try router.add(
          Service.Service.self, service.name,
          { [weak router] in
            // Without its router nobody can ask for it.
            guard let router else { throw ServiceError.unknown(service.name) }
            return try service.make(for: router)
          }, service.methods, replacing: false)
      } catch {
        throw RegistrationError(name: service.name, underlying: error)
      }
    }
  }
}
