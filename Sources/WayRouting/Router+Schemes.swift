import WayNavigation
import WayPatterns

extension Router {
  /// Sets the dispatcher of a scheme, which may have had another one. Throws
  /// ``RouterError/invalidScheme(_:)``.
  public func register(_ dispatcher: SchemeDispatcher, scheme: String) throws(RouterError) {
    try change { (state) throws(RouterError) in
      try state.change(scheme) { rule in
        rule.dispatcher = dispatcher
        rule.isRemoved = false
      }
    }
  }

  /// Takes a scheme out of service: its URIs answer "no dispatcher" until one is registered again.
  /// Throws ``RouterError/invalidScheme(_:)``.
  public func removeDispatcher(scheme: String) throws(RouterError) {
    try change { (state) throws(RouterError) in
      try state.change(scheme) { rule in
        rule.dispatcher = nil
        rule.isRemoved = true
      }
    }
  }

  /// Keeps global routes from serving a scheme, or lets them again, whatever a table says. Throws
  /// ``RouterError/invalidScheme(_:)``.
  public func closeScheme(_ scheme: String, _ isClosed: Bool = true) throws(RouterError) {
    try change { (state) throws(RouterError) in
      try state.change(scheme) { $0.isClosed = isClosed }
    }
  }

  /// Sets what happens to a URI that nobody serves; nil leaves it to fail.
  public func undefinedRoute(_ handler: UndefinedRouteHandler?) {
    changeAlways { $0.undefinedRoute = handler }
  }

  /// Sets what is asked about every call that fails, by what error it may be; nil lets them fail.
  ///
  /// The call has come to nothing, or its task or page has failed: that may have had its effect by
  /// then, unless ``CallError/isRetryable`` or the code says not, so that leading the call to the
  /// same task again is not always right. A call can be redirected as often as on any other way.
  /// What the handler throws is the call's error. It is not asked about what its caller has
  /// cancelled, what is late or stopped by the session's end, what is no URI, and what changes the
  /// stack alone.
  public func failedCall(_ handler: FailedCallHandler?) {
    changeAlways { $0.failedCall = handler }
  }

  /// Sets the first page of each tab, in order; none for an app without tabs. Sessions that run
  /// keep their pages.
  ///
  /// Throws ``RouterError/tooManyTabs(limit:)`` beyond 16.
  public func setTabs(_ tabs: [RouteURI]) throws(RouterError) {
    try change { (state) throws(RouterError) in
      guard tabs.count <= NavigationStack.maxTabs else {
        throw .tooManyTabs(limit: NavigationStack.maxTabs)
      }
      state.tabs = tabs
    }
  }

  /// Whether `+` in a query is a space, as it is unless this says not. `%2B` always is a plus.
  public func setPlusIsSpace(_ isSpace: Bool) {
    changeAlways { $0.plusIsSpace = isSpace }
  }
}
