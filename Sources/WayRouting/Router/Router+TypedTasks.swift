import WayNavigation
import WayPatterns
import WayValues

extension Router {
  /// Registers a task whose parameters are read into a type and whose reply is written from one. It
  /// returns at once, on the thread of the caller's session: it must not block.
  ///
  /// Text of path and query is read as a number or truth value where the type wants one. What does
  /// not fit is told to the caller (2422, with the place of the fault) before `handler` is called.
  @discardableResult
  public func task<Request: Decodable & Sendable, Reply: Encodable & SendableMetatype>(
    _ pattern: String, name: String? = nil, priority: Int = 0,
    _ handler: @escaping @Sendable (Request, Call) throws -> Reply
  ) throws(RouterError) -> Registration {
    try task(pattern, name: name, priority: priority) { call in
      try ValueEncoder().encode(try handler(try call.decode(), call))
    }
  }

  /// As the one that returns at once, for a task that may wait.
  @discardableResult
  public func task<Request: Decodable & Sendable, Reply: Encodable & SendableMetatype>(
    _ pattern: String, name: String? = nil, priority: Int = 0,
    _ handler: @escaping @Sendable (Request, Call) async throws -> Reply
  ) throws(RouterError) -> Registration {
    try task(pattern, name: name, priority: priority) { call in
      let request: Request = try call.decode()
      return try ValueEncoder().encode(try await handler(request, call))
    }
  }
}

extension Call {
  /// The parameters as a type. Text is read as a number or truth value where the type wants one.
  ///
  /// Throws ``RoutingError/invalidParameters(_:)`` with the place of what does not fit; a handler
  /// that lets it through answers its caller 2422.
  public func decode<Parameters: Decodable>(
    _ type: Parameters.Type = Parameters.self
  ) throws(ResolutionError) -> Parameters {
    try params.decode(type)
  }
}

extension Page {
  /// The parameters as a type, as ``Call/decode(_:)`` reads them.
  public func decode<Parameters: Decodable>(
    _ type: Parameters.Type = Parameters.self
  ) throws(ResolutionError) -> Parameters {
    try params.decode(type)
  }
}

extension ValueObject {
  /// Parameters as a type. Throws ``RoutingError/invalidParameters(_:)``.
  func decode<Parameters: Decodable>(
    _ type: Parameters.Type
  ) throws(ResolutionError) -> Parameters {
    do { return try readParameters(as: type) } catch {
      throw .invalidParameters([PatternParameterFault(path: error.path, message: error.message)])
    }
  }
}
