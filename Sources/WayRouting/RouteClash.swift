/// Two patterns that match the same URIs with the same priority, so that nothing could choose between them.
public struct RouteClash: Error, Sendable, Hashable, CustomStringConvertible {
  /// The pattern that was refused and the name of its route.
  public let pattern: String
  public let route: String
  /// The route that has such a pattern already.
  public let other: String

  public var description: String {
    "the pattern '\(pattern)' of the route '\(route)' has the shape and the priority of a pattern of"
      + " '\(other)'; change its priority or remove one"
  }
}
