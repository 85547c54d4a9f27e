import WayValues

/// A declared route with the parameters of a call.
public struct Match: Sendable {
  /// The route with the handler that it had when it was looked up.
  public let route: Route
  /// The URI that was looked up.
  public let uri: RouteURI
  /// What the pattern's parameters took from the URI.
  public let pathParams: ValueObject
  /// Query, path and the caller's parameters, merged; the later ones win.
  public let params: ValueObject
  /// Answers the call instead of the route, where the scheme has a custom dispatcher.
  public let custom: (@Sendable (Call) async throws -> Value)?
}
