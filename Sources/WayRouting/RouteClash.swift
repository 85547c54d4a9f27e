/// Two patterns that match the same URIs with the same priority, so that nothing could choose between them.
public struct RouteClash: Error, Sendable, Hashable, CustomStringConvertible {
  /// The pattern that was refused.
  public let pattern: String
  /// The name of its route.
  public let route: String
  /// The route that has such a pattern already.
  public let other: String

  /// A clash of `pattern`, of `route`, with a pattern of `other`.
  package init(pattern: String, route: String, other: String) {
    self.pattern = pattern
    self.route = route
    self.other = other
  }

  public var description: String {
    "the pattern '\(pattern)' of the route '\(route)' has the shape and the priority of a pattern of"
      + " '\(other)'; change its priority or remove one"
  }
}
