/// How a service is made, so that it is registered with the others.
///
/// The build plugin `WaybridgeModules` finds types that conform as it finds those that are a
/// ``RouteModule``. ``Router/register(service:)`` registers a type that it does not find, such as a
/// nested one.
///
/// ```swift
/// protocol Cart: Sendable {
///   func count() -> Int64
/// }
///
/// struct LocalCart: Cart, RouteService {
///   func count() -> Int64 { 3 }
///   static func make(for router: Router) throws -> any Cart { LocalCart() }
///   static func methods(_ service: inout ServiceMethods<any Cart>) {
///     service.method("count") { cart, _ in .integer(cart.count()) }
///   }
/// }
/// ```
public protocol RouteService: SendableMetatype {
  /// What Swift code gets the service by, ``Router/service(_:)``; often a protocol.
  associatedtype Service: Sendable
  /// The service's name in `service://Name/method`; the name of the type, where it says nothing.
  static var name: String { get }
  /// Makes the service when it is first used, from any thread, once unless it throws. It may use
  /// other services.
  static func make(for router: Router) throws -> Service
  /// Names the methods that others may call; none, where it says nothing.
  static func methods(_ service: inout ServiceMethods<Service>)
}

extension RouteService {
  /// The name of the type.
  public static var name: String { "\(Self.self)" }
  /// None.
  public static func methods(_ service: inout ServiceMethods<Service>) {}
}

extension Router {
  /// Registers a service, which can be had at once; its methods come in the phase
  /// ``StartPhase/tasks`` of the start. A second time changes nothing, and a service of the type
  /// that is registered by ``service(_:name:make:methods:)``, before the start, takes its place.
  ///
  /// Throws ``RouterError/started`` when the start has begun,
  /// ``RouterError/serviceClash(service:other:type:)`` for another ``RouteService`` of the type. A
  /// method that is refused fails the start, as ``RegistrationError``.
  public func register<Service: RouteService>(service: Service.Type) throws(RouterError) {
    let name = service.name
    let slot = LazyService(name) { [weak self] in
      // Without its router nobody can ask for it.
      guard let self else { throw ServiceError.unknown(name) }
      return try service.make(for: self)
    }
    try atStart(.tasks) { router in
      do { try router.addMethods(of: slot, service.methods) } catch {
        throw RegistrationError(name: name, underlying: error)
      }
    }
    try change { (state) throws(RouterError) in
      let type = ObjectIdentifier(Service.Service.self)
      guard let other = state.services[type] else {
        state.services[type] = .init(name: name, slot: slot, provider: ObjectIdentifier(service))
        return
      }
      guard other.provider == nil || other.provider == ObjectIdentifier(service) else {
        throw .serviceClash(service: name, other: other.name, type: "\(Service.Service.self)")
      }
    }
  }
}
