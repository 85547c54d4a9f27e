import Synchronization
import WayPatterns
import WayValues

/// A service of a router: made once, when it is first used.
final class LazyService<Service: Sendable>: Sendable {
  private let name: String
  private let make: @Sendable () throws -> Service
  private let made = Mutex<Service?>(nil)

  init(_ name: String, _ make: @escaping @Sendable () throws -> Service) {
    self.name = name
    self.make = make
  }

  /// The routes of its methods.
  func routes(
    _ methods: (inout ServiceMethods<Service>) -> Void
  ) throws(RouterError) -> [Route] {
    var declared = ServiceMethods(name, self)
    methods(&declared)
    if let fault = declared.fault { throw fault }
    return declared.routes
  }

  /// The service, for a call of one of its methods: the caller is told the name of one that cannot
  /// be made.
  func serviceForCall() throws -> Service {
    do { return try service() } catch let error as CallError { throw error } catch {
      throw CallError(code: 0, message: "The service '\(name)' could not be made: \(error)")
    }
  }

  /// When making it throws, the next use tries again.
  func service() throws -> Service {
    // Somebody who is waited for below this one would wait for ever.
    guard !ServiceChain.making.contains(ObjectIdentifier(self)) else {
      throw ServiceError.cycle(name)
    }
    return try made.withLock { made in
      if let made { return made }
      let new = try ServiceChain.$making.withValue(
        ServiceChain.making.union([ObjectIdentifier(self)]), operation: make)
      made = new
      return new
    }
  }
}

/// The services that are being made, each for the one after it.
private enum ServiceChain {
  @TaskLocal static var making: Set<ObjectIdentifier> = []
}

/// Why there is no service.
public enum ServiceError: Error, Sendable, Hashable, CustomStringConvertible {
  /// None of this type is registered.
  case unknown(String)
  /// Making the service needs the service itself.
  case cycle(String)

  public var description: String {
    switch self {
    case .unknown(let type): "no service of the type \(type) is registered"
    case .cycle(let name): "the service '\(name)' needs itself to be made"
    }
  }
}

/// Names the methods of a service that clients may call, `service://Name/method`. A name that
/// cannot stand in a pattern is told when the service is registered, which fails with
/// ``RouterError``.
public struct ServiceMethods<Service: Sendable>: ~Copyable {
  let service: String
  let slot: LazyService<Service>
  private(set) var routes: [Route] = []
  /// The first thing that is wrong.
  private(set) var fault: RouterError?

  init(_ service: String, _ slot: LazyService<Service>) {
    self.service = service
    self.slot = slot
  }

  /// A method that returns at once, on the thread of the caller's session: it must not block.
  /// What the body throws is the call's error.
  public mutating func method(
    _ name: String, parameters: [ParameterDeclaration] = [],
    _ body: @escaping @Sendable (Service, Call) throws -> Value
  ) {
    let slot = slot
    add(name, parameters, .task { call in try body(try slot.serviceForCall(), call) })
  }

  /// A method that may wait. What the body throws is the call's error.
  public mutating func method(
    _ name: String, parameters: [ParameterDeclaration] = [],
    _ body: @escaping @Sendable (Service, Call) async throws -> Value
  ) {
    let slot = slot
    add(
      name, parameters, .asyncTask { call in try await body(try slot.serviceForCall(), call) })
  }

  /// A method whose parameters are read into a type and whose reply is written from one. It may
  /// wait.
  public mutating func method<Request: Decodable & Sendable, Reply: Encodable & SendableMetatype>(
    _ name: String, parameters: [ParameterDeclaration] = [],
    _ body: @escaping @Sendable (Service, Request) async throws -> Reply
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
      fault = fault ?? .pattern(error)
      return
    }
    routes.append(
      Route(
        name: "\(service).\(name)", patterns: [pattern], kind: .service, parameters: parameters,
        handler: handler))
  }
}

extension RouterState {
  fileprivate mutating func add(
    _ methods: [Route], of service: ObjectIdentifier
  ) throws(RouterError) {
    for method in methods {
      let registration = try add(method, replacing: false)
      services[service]?.methods.append(registration)
    }
  }
}

extension Router {
  /// Registers a service under its type and a name: Swift code gets it by its type
  /// (``service(_:)``), and others call the methods that `methods` names, `service://Name/method`,
  /// each a route `Name.method`.
  ///
  /// `make` runs when the service is first used, from any thread, and once unless it throws. It may
  /// use other services. Another service of the type takes the place of the first, whose methods
  /// stay until ``removeService(_:)``.
  ///
  /// Throws when a method's name is no segment of a pattern or its route is refused; then nothing
  /// is registered.
  public func service<Service: Sendable>(
    _ type: Service.Type, name: String, make: @escaping @Sendable () throws -> Service,
    methods: (inout ServiceMethods<Service>) -> Void = { _ in }
  ) throws(RouterError) {
    let slot = LazyService(name, make)
    let routes = try slot.routes(methods)
    try change { (state) throws(RouterError) in
      var next = state
      let others = state.services[ObjectIdentifier(type)]?.methods ?? []
      next.services[ObjectIdentifier(type)] = .init(name: name, slot: slot, methods: others)
      try next.add(routes, of: ObjectIdentifier(type))
      state = next
    }
  }

  /// Adds the methods of a service that has been registered, unless another has taken its place.
  func addMethods<Service: Sendable>(
    of slot: LazyService<Service>,
    _ methods: (inout ServiceMethods<Service>) -> Void
  ) throws(RouterError) {
    let routes = try slot.routes(methods)
    try change { (state) throws(RouterError) in
      let type = ObjectIdentifier(Service.self)
      guard state.services[type]?.slot as? LazyService<Service> === slot else { return }
      var next = state
      try next.add(routes, of: type)
      state = next
    }
  }

  /// The service of a type, made now when nobody has used it before. Usable from any thread.
  ///
  /// Throws ``ServiceError``, or what making it throws.
  public func service<Service: Sendable>(_ type: Service.Type = Service.self) throws -> Service {
    let slot = read { $0.services[ObjectIdentifier(type)]?.slot }
    guard let slot = slot as? LazyService<Service> else {
      throw ServiceError.unknown("\(type)")
    }
    return try slot.service()
  }

  /// Takes a service and the routes of its methods back; false when there is none. Who has it keeps
  /// it.
  @discardableResult
  public func removeService<Service: Sendable>(_ type: Service.Type) -> Bool {
    changeAlways { state in
      guard let entry = state.services.removeValue(forKey: ObjectIdentifier(type)) else {
        return false
      }
      for method in entry.methods { _ = state.remove(method) }
      return true
    }
  }
}
