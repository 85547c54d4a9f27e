import WayValues

/// The decision of an undefined-route handler about a URI that no route or host serves.
public enum UndefinedRouteDecision: Sendable {
  /// The call fails with "no route".
  case decline
  /// The call returns this value; for an opened page it is the data of its outcome.
  case respond(Value)
  /// The call continues with another URI and parameters.
  case redirect(uri: String, params: ValueObject)
}

/// Handles a URI that neither a declared route nor a host serves.
public typealias UndefinedRouteHandler = @Sendable (Call) async throws -> UndefinedRouteDecision
