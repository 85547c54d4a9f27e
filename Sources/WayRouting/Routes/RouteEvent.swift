import WayNavigation
import WayValues

/// An event of a call, as hooks receive it.
public enum RouteEvent: Sendable {
  /// A page is about to be opened: its host receives the request now.
  case willOpen(Page)
  /// A page is on the stack. `after` is the time that its host took.
  case didOpen(Page, after: Duration)
  /// A page has left the stack. `after` is the time that it was there.
  case didClose(Page, Outcome, after: Duration)
  /// A page is on top again: those above it have closed, or its tab was selected.
  case didResume(Page)
  /// The user sees more or less of a page, also when it has opened.
  case didChangeVisibility(Page, PageVisibility)
  /// A task, a method of a service, or the handler of undefined routes or of failed calls has
  /// returned. `after` is the time that it took.
  case didRun(uri: String, route: String?, after: Duration)
  /// A call failed. For example, it has no route or invalid parameters, an interceptor refused it,
  /// the host refused it or did not respond, or the task failed. A rejected change of the stack or
  /// call of a page is a failure too.
  case didFail(RouteFailure)
}

/// A call that failed.
public struct RouteFailure: Sendable {
  /// The URI as it was called, or that of the page which ``method`` is about; `nil` if it is
  /// unknown.
  public let uri: String?
  /// The method that failed if no URI was called: `page.call`, or one of `navigation.…`.
  public let method: String?
  /// The name of the declared route, if one was found.
  public let route: String?
  /// The error's code: the protocol's or the application's.
  public let code: Int
  /// The error's `data.kind`, one word; nil for an application's.
  public let kind: String?
  /// A message for people.
  public let message: String
  /// The time that the host or the task took; `nil` if none ran.
  public let duration: Duration?

  package init(
    uri: String?, method: String? = nil, route: String?, code: Int, kind: String?, message: String,
    duration: Duration?
  ) {
    self.uri = uri
    self.method = method
    self.route = route
    self.code = code
    self.kind = kind
    self.message = message
    self.duration = duration
  }
}

/// A closure that receives the events of every call.
struct RouteHook: Sendable {
  let name: String
  let handler: @Sendable (RouteEvent, Caller) -> Void
}
