/// What opening or invoking a route does.
public enum RouteKind: String, Sendable, CaseIterable {
  /// Something to show; lives on the stack until it has an outcome.
  case page
  /// A behaviour that returns a value.
  case task
  /// A method of a service.
  case service
}
