/// Two patterns that match the same URIs with the same priority, so that a lookup could not choose
/// between them.
public struct RouteConflict: Error, Sendable, Hashable, CustomStringConvertible {
  /// The pattern that was rejected.
  public let pattern: String
  /// The name of its route.
  public let route: String
  /// The name of the route that has an equivalent pattern already.
  public let other: String
  /// Whether the rejected route has a handler and the other one has none, so that the handler may
  /// be meant for the other one.
  public let lacksHandler: Bool

  /// Creates a conflict of `pattern`, of `route`, with a pattern of `other`.
  package init(pattern: String, route: String, other: String, lacksHandler: Bool = false) {
    self.pattern = pattern
    self.route = route
    self.other = other
    self.lacksHandler = lacksHandler
  }

  public var description: String {
    "the pattern \"\(pattern)\" of the route \"\(route)\" has the shape and the priority of a pattern "
      + "of"
      + " \"\(other)\"; "
      + (lacksHandler
        ? "if it is to serve that route, use handle(\"\(other)\", with: …)"
        : "change its priority or remove one")
  }
}
