/// The effect of opening or invoking a route.
public enum RouteKind: String, Sendable, CaseIterable {
  /// A view that is on the stack until it has an outcome.
  case page
  /// A function that returns a value.
  case task
  /// A method of a service.
  case service
}
