import WayNavigation
import WayValues

/// What becomes of a call, as hooks are told it.
public enum RouteEvent: Sendable {
  /// A page is about to be opened: its host is asked now.
  case willOpen(Page)
  /// A page is on the stack. `after` is how long its host took.
  case didOpen(Page, after: Duration)
  /// A page has left the stack. `after` is how long it was there.
  case didClose(Page, Outcome, after: Duration)
  /// A page is on top again: those above it have left, or its tab was selected.
  case didResume(Page)
  /// A task, a method of a service, or the handler of undefined routes or of failed calls has
  /// answered. `after` is how long it took.
  case didRun(uri: String, route: String?, after: Duration)
  /// A call came to nothing: no route, parameters that do not fit, refused by an interceptor, a
  /// host that refused or was silent, a task that failed, a change of the stack or a call of a page
  /// that was refused.
  case failed(RouteFailure)
}

/// A call that came to nothing.
public struct RouteFailure: Sendable {
  /// The URI as it was called, or that of the page which ``method`` is about; nil where it could
  /// not be told.
  public let uri: String?
  /// What failed where no URI was called: `page.call`, or one of `navigation.…`.
  public let method: String?
  /// The name of the declared route, where one was found.
  public let route: String?
  /// The error's code: the protocol's or the application's.
  public let code: Int
  /// The error's `data.kind`, one word; nil for an application's.
  public let kind: String?
  /// Text for people.
  public let message: String
  /// How long the host or the task took; nil where none was asked.
  public let after: Duration?

  package init(
    uri: String?, method: String? = nil, route: String?, code: Int, kind: String?, message: String,
    after: Duration?
  ) {
    self.uri = uri
    self.method = method
    self.route = route
    self.code = code
    self.kind = kind
    self.message = message
    self.after = after
  }
}

/// One who is told of every call.
struct RouteHook: Sendable, Named {
  let name: String
  let tell: @Sendable (RouteEvent, Caller) -> Void
}

extension Router {
  /// Tells `hook` of every page and task of every session, for statistics and logs, or puts it in
  /// the place of the one of its name. It is called on the thread of the session, in the order in
  /// which things happen: it must not block. It is told too who makes the call that it is about; of
  /// a page, who opened it.
  public func hook(_ name: String, _ hook: @escaping @Sendable (RouteEvent, Caller) -> Void) {
    let added = RouteHook(name: name, tell: hook)
    changeAlways { $0.hooks.put(added) }
  }

  /// Takes a hook back; false when there is none.
  @discardableResult
  public func removeHook(_ name: String) -> Bool {
    changeAlways { $0.hooks.remove(named: name) }
  }
}

extension RouterSnapshot {
  /// Whether anybody is told of calls.
  package var hasHooks: Bool { !hooks.isEmpty }

  /// Tells everybody who wants to know.
  package func tell(_ notice: RouteEvent, _ caller: Caller) {
    for hook in hooks { hook.tell(notice, caller) }
  }
}
