import WayNavigation
import WayPatterns
import WayValues

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

extension Call {
  /// Decodes the parameters as a type. Strings are parsed if the type expects a number or boolean.
  ///
  /// Throws ``RouterResolutionError/invalidParameters(_:)`` with the path of each fault. If a handler
  /// rethrows it, its caller receives 2422.
  public func decode<Parameters: Decodable>(
    _ type: Parameters.Type = Parameters.self
  ) throws(RouterResolutionError) -> Parameters {
    try params.decode(type)
  }
}

extension Page {
  /// Decodes the parameters as a type, as ``Call/decode(_:)`` does.
  public func decode<Parameters: Decodable>(
    _ type: Parameters.Type = Parameters.self
  ) throws(RouterResolutionError) -> Parameters {
    try params.decode(type)
  }
}

extension ValueObject {
  /// Decodes parameters as a type. Throws ``RouterResolutionError/invalidParameters(_:)``.
  func decode<Parameters: Decodable>(
    _ type: Parameters.Type
  ) throws(RouterResolutionError) -> Parameters {
    do { return try decodeParameters(as: type) } catch {
      throw .invalidParameters([PatternParameterFault(path: error.path, message: error.message)])
    }
  }
}
