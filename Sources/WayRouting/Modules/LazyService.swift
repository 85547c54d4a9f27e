import Synchronization
import WayPatterns
import WayValues

/// A service of a router, created once at its first use.
final class LazyService<Service: Sendable>: Sendable {
  private let name: String
  private let make: @Sendable () throws -> Service
  private let instance = Mutex<Service?>(nil)

  init(_ name: String, _ make: @escaping @Sendable () throws -> Service) {
    self.name = name
    self.make = make
  }

  /// Returns the routes of the methods.
  func routes(
    _ methods: (inout ServiceMethods<Service>) -> Void
  ) throws(RouterConfigurationError) -> [Route] {
    var declared = ServiceMethods(name, self)
    methods(&declared)
    if let fault = declared.firstError { throw fault }
    return declared.routes
  }

  /// Returns the service for a call of one of its methods. If it cannot be created, the error for
  /// the caller names the service.
  func serviceForCall() throws -> Service {
    do { return try service() } catch let error as CallError { throw error } catch {
      throw CallError(code: 0, message: "The service \"\(name)\" could not be created: \(error)")
    }
  }

  /// Returns the service. If creating it throws, the next use tries again.
  func service() throws -> Service {
    // A service that waits for itself would wait without end.
    guard !ServiceChain.making.contains(ObjectIdentifier(self)) else {
      throw ServiceError.cycle(name)
    }
    return try instance.withLock { made in
      if let made { return made }
      let new = try ServiceChain.$making.withValue(
        ServiceChain.making.union([ObjectIdentifier(self)]), operation: make)
      made = new
      return new
    }
  }
}

/// The services that are being created, each for the one after it.
private enum ServiceChain {
  @TaskLocal static var making: Set<ObjectIdentifier> = []
}

/// The reason why there is no service.
public enum ServiceError: Error, Sendable, Hashable, CustomStringConvertible {
  /// No service of this type is registered.
  case unknown(String)
  /// Creating the service needs the service itself.
  case cycle(String)

  public var description: String {
    switch self {
    case .unknown(let type): "no service of the type \(type) is registered"
    case .cycle(let name): "the service \"\(name)\" depends on itself"
    }
  }
}

/// The methods of a service that clients may call, `service://Name/method`. If a name cannot be
/// part of a pattern, registering the service fails with ``RouterConfigurationError``.
public struct ServiceMethods<Service: Sendable>: ~Copyable {
  let service: String
  let slot: LazyService<Service>
  private(set) var routes: [Route] = []
  /// The first error.
  private(set) var firstError: RouterConfigurationError?

  init(_ service: String, _ slot: LazyService<Service>) {
    self.service = service
    self.slot = slot
  }

  /// Adds a method that returns at once, on the thread of the caller's session, and must not block.
  /// The call fails with an error that the body throws.
  public mutating func method(
    _ name: String, parameters: [ParameterDeclaration] = [],
    _ body: @escaping @Sendable (Service, Call) throws -> Value
  ) {
    let slot = slot
    add(name, parameters, .task { call in try body(try slot.serviceForCall(), call) })
  }

  /// Adds a method that may wait. The call fails with an error that the body throws.
  public mutating func method(
    _ name: String, parameters: [ParameterDeclaration] = [],
    _ body: @escaping @Sendable (Service, Call) async throws -> Value
  ) {
    let slot = slot
    add(
      name, parameters, .asyncTask { call in try await body(try slot.serviceForCall(), call) })
  }

  /// Adds a method with parameters that are decoded into a type and a result that is encoded from
  /// one. It may wait.
  public mutating func method<
    Request: Decodable & Sendable, Response: Encodable & SendableMetatype
  >(
    _ name: String, parameters: [ParameterDeclaration] = [],
    _ body: @escaping @Sendable (Service, Request) async throws -> Response
  ) {
    method(name, parameters: parameters) { service, call in
      let request: Request = try call.decode()
      return try ValueEncoder().encode(try await body(service, request))
    }
  }

  private mutating func add(
    _ name: String, _ parameters: [ParameterDeclaration], _ handler: RouteHandler
  ) {
    let pattern: RoutePattern
    do { pattern = try RoutePattern("service://\(service)/\(name)") } catch {
      firstError = firstError ?? .invalidPattern(error)
      return
    }
    routes.append(
      Route(
        name: "\(service).\(name)", patterns: [pattern], kind: .service, parameters: parameters,
        handler: handler))
  }
}

extension Router {
  /// Registers a service under its type and a name. Swift code gets it by its type
  /// (``service(_:)``). Other callers use the methods that `methods` names,
  /// `service://Name/method`, each a route `Name.method`.
  ///
  /// `make` runs at the first use of the service, on any thread, and once unless it throws. It may
  /// use other services. Another service of the type replaces the first, and the methods of that
  /// stay until ``removeService(_:)``.
  ///
  /// Throws if a method's name cannot be a segment of a pattern or its route is rejected; then
  /// nothing is registered.
  public func registerService<Service: Sendable>(
    _ type: Service.Type, name: String, make: @escaping @Sendable () throws -> Service,
    methods: (inout ServiceMethods<Service>) -> Void = { _ in }
  ) throws(RouterConfigurationError) {
    let slot = LazyService(name, make)
    let routes = try slot.routes(methods)
    try change { (builder) throws(RouterConfigurationError) in
      let registrations = try builder.add(contentsOf: routes)
      let others = builder.services[ObjectIdentifier(type)]?.methods ?? []
      builder.services[ObjectIdentifier(type)] = .init(
        name: name, slot: slot, methods: others + registrations)
    }
  }

  /// Adds the methods of a registered service, unless another service has replaced it.
  func addMethods<Service: Sendable>(
    of slot: LazyService<Service>,
    _ methods: (inout ServiceMethods<Service>) -> Void
  ) throws(RouterConfigurationError) {
    let routes = try slot.routes(methods)
    try change { (builder) throws(RouterConfigurationError) in
      let type = ObjectIdentifier(Service.self)
      guard builder.services[type]?.slot as? LazyService<Service> === slot else { return }
      let registrations = try builder.add(contentsOf: routes)
      builder.services[type]?.methods += registrations
    }
  }

  /// Returns the service of a type, and creates it at its first use. Usable from any thread.
  ///
  /// Throws ``ServiceError``, or the error of its creation.
  public func service<Service: Sendable>(_ type: Service.Type = Service.self) throws -> Service {
    let slot = read { $0.services[ObjectIdentifier(type)]?.slot }
    guard let slot = slot as? LazyService<Service> else {
      throw ServiceError.unknown("\(type)")
    }
    return try slot.service()
  }

  /// Removes a service and the routes of its methods; returns `false` if there is none. Code that
  /// holds the service keeps it.
  @discardableResult
  public func removeService<Service: Sendable>(_ type: Service.Type) -> Bool {
    change { builder in
      guard let entry = builder.services.removeValue(forKey: ObjectIdentifier(type)) else {
        return false
      }
      for method in entry.methods { _ = builder.remove(method) }
      return true
    }
  }
}
