import WayValues

/// The decision of a failure handler about a call that fails.
public enum FailedCallDecision: Sendable {
  /// The caller receives the error.
  case fail
  /// The call returns this value; for an opened page it is the data of its outcome.
  case respond(Value)
  /// The call continues with another URI and parameters.
  case redirect(uri: String, params: ValueObject)
}

/// Handles a call that fails, at its last URI, with its error.
public typealias FailedCallHandler = @Sendable (Call, CallError) async throws -> FailedCallDecision

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
