import WayValues

/// Where a URI leads.
public enum Resolution: Sendable {
  /// To a declared route.
  case match(Match)
  /// To no declared route. Hosts may serve it, then the undefined-route handler. `params` are the query's under
  /// the caller's; the dispatcher is nil for a scheme that has none.
  case undeclared(uri: RouteURI, Dispatcher?, params: ValueObject)
  /// To the stack: `operation` is what follows the scheme, `back` in `navigation:back?count=2`.
  case navigation(uri: RouteURI, operation: String, params: ValueObject)
}
