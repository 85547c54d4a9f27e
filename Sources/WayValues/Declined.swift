/// Thrown by a task, or by what opens a page, that leaves the call to the next that matches its URI,
/// as if it were not there: to another host or route, the route's fallback, the undefined route. It
/// must not have had an effect by then.
public struct Declined: Error, Sendable {
  /// To be thrown.
  public init() {}
}
