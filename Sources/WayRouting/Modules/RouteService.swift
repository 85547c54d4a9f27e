/// A description of how to create a service, so that it is registered with the others.
///
/// The build plugin `WaybridgeModules` finds types that conform as it finds each ``RouteModule``.
/// ``Router/register(service:)`` registers a type that it does not find, such as a nested one.
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
  /// The type by which Swift code gets the service, ``Router/service(_:)``; often a protocol.
  associatedtype Service: Sendable
  /// The service's name in `service://Name/method`; by default the name of the type.
  static var name: String { get }
  /// Creates the service at its first use, on any thread, once unless it throws. It may use other
  /// services.
  static func make(for router: Router) throws -> Service
  /// Adds the methods that clients may call; by default none.
  static func methods(_ service: inout ServiceMethods<Service>)
}

extension RouteService {
  /// The name of the type.
  public static var name: String { "\(Self.self)" }
  /// Adds no methods.
  public static func methods(_ service: inout ServiceMethods<Service>) {}
}

extension Router {
  /// Registers a service, which Swift code can use at once. Its methods are registered in the phase
  /// ``StartPhase/tasks`` of the start. A second registration changes nothing. A service of the
  /// type that is registered by ``registerService(_:name:make:methods:)``, before the start,
  /// replaces it.
  ///
  /// Throws ``RouterConfigurationError/alreadyStarted`` if the start has begun. Throws
  /// ``RouterConfigurationError/serviceConflict(service:other:type:)`` for another ``RouteService``
  /// of the type. A method that is rejected fails the start, as ``RegistrationError``.
  public func register<Service: RouteService>(service: Service.Type)
    throws(RouterConfigurationError)
  {
    let name = service.name
    let slot = LazyService(name) { [weak self] in
      // Without its router nothing can ask for the service.
      guard let self else { throw ServiceError.unknown(name) }
      return try service.make(for: self)
    }
    try atStart(.tasks) { router in
      do { try router.addMethods(of: slot, service.methods) } catch {
        throw RegistrationError(name: name, underlying: error)
      }
    }
    try change { (builder) throws(RouterConfigurationError) in
      let type = ObjectIdentifier(Service.Service.self)
      guard let other = builder.services[type] else {
        builder.services[type] = .init(name: name, slot: slot, provider: ObjectIdentifier(service))
        return
      }
      guard other.provider == nil || other.provider == ObjectIdentifier(service) else {
        throw .serviceConflict(service: name, other: other.name, type: "\(Service.Service.self)")
      }
    }
  }
}
