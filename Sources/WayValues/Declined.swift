/// The error with which a task, or the code that opens a page, declines a call. The call continues
/// with the next match of its URI, as if this one did not exist: another host or route, the route's
/// fallback, the undefined route. The call must not have had an effect by then.
public struct Declined: Error, Sendable {
  /// Creates the error.
  public init() {}
}
