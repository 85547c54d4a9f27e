import WayValues

/// What an undefined-route handler makes of a URI that nobody serves.
public enum UndefinedRouteDecision: Sendable {
  /// Nothing: the call fails with "no route".
  case decline
  /// The call's value; of an opened page, the data of its outcome.
  case answer(Value)
  /// The call goes on with another URI and parameters.
  case redirect(uri: String, params: ValueObject)
}

/// Called for a URI that neither a declared route nor a host serves.
public typealias UndefinedRouteHandler = @Sendable (Call) async throws -> UndefinedRouteDecision
