import WayValues

/// A declared route with the parameters of a call.
public struct Match: Sendable {
  public let route: Route
  public let uri: RouteURI
  /// What the pattern's parameters took from the URI.
  public let pathParams: ValueObject
  /// Query, path and the caller's parameters, merged; the later ones win.
  public let params: ValueObject
  /// Answers the call instead of the route, where the scheme has a custom dispatcher.
  public let custom: (@Sendable (Call) async throws -> Value)?
}
