import WayNavigation
import WayPatterns
import WayValues

// Redirects.
extension Router {
  /// Redirects the URIs that match `from`, and replaces an earlier redirect with the same `from`.
  ///
  /// Throws if one of the two is invalid, or if another redirect matches the same URIs.
  public func redirect(_ from: String, to target: String) throws(RouterConfigurationError) {
    let redirect: Redirect
    do { redirect = try Redirect(from: from, to: target) } catch { throw .invalidTarget(error) }
    try self.redirect(contentsOf: [redirect])
  }

  /// Adds all redirects, or none of them if one is rejected. Throws the errors of
  /// ``redirect(_:to:)``.
  public func redirect(contentsOf redirects: [Redirect]) throws(RouterConfigurationError) {
    try change { (builder) throws(RouterConfigurationError) in
      var next = builder.redirects
      for redirect in redirects { try next.add(redirect) }
      builder.redirects = next
    }
  }

  /// Removes a redirect by its `from` as it was written; returns `false` if there is none.
  @discardableResult
  public func removeRedirect(_ from: String) -> Bool {
    guard let pattern = try? RoutePattern(from) else { return false }
    return change { $0.redirects.remove(from: pattern) }
  }

  /// Removes all redirects.
  public func removeRedirects() {
    change { $0.redirects = RedirectList() }
  }
}

// Schemes, and what applies to calls of all of them.
extension Router {
  /// Sets the dispatcher of a scheme and replaces an earlier one. Throws
  /// ``RouterConfigurationError/invalidScheme(_:)``.
  public func register(_ dispatcher: SchemeDispatcher, scheme: String)
    throws(RouterConfigurationError)
  {
    try change { (builder) throws(RouterConfigurationError) in
      try builder.change(scheme) { rule in
        rule.dispatcher = dispatcher
        rule.isRemoved = false
      }
    }
  }

  /// Removes the dispatcher of a scheme. Its URIs fail with "no dispatcher" until another one is
  /// registered. Throws ``RouterConfigurationError/invalidScheme(_:)``.
  public func removeDispatcher(scheme: String) throws(RouterConfigurationError) {
    try change { (builder) throws(RouterConfigurationError) in
      try builder.change(scheme) { rule in
        rule.dispatcher = nil
        rule.isRemoved = true
      }
    }
  }

  /// Sets whether a scheme is closed, and overrides tables. Global routes do not apply to a closed
  /// scheme, and a client that hosts the whole scheme serves declared routes only. Throws
  /// ``RouterConfigurationError/invalidScheme(_:)``.
  public func setScheme(_ scheme: String, isClosed: Bool) throws(RouterConfigurationError) {
    try change { (builder) throws(RouterConfigurationError) in
      try builder.change(scheme) { $0.isClosed = isClosed }
    }
  }

  /// Sets the handler for a URI that no route or host serves; with `nil` such a call fails.
  ///
  /// A client that hosts a whole scheme serves all its URIs, unless the scheme is closed
  /// (``setScheme(_:isClosed:)``).
  public func setUndefinedRouteHandler(_ handler: UndefinedRouteHandler?) {
    change { $0.settings.undefinedRouteHandler = handler }
  }

  /// Sets the handler for every call that fails, with any of these errors; `nil` removes it.
  ///
  /// The call was not handled, or its task or page has failed. It may have had an effect by then,
  /// unless ``CallError/isRetryable`` or the code says otherwise, so that redirecting it to the
  /// same task is not always right. Redirects of the handler count towards the usual limit. The
  /// call fails with an error that the handler throws.
  ///
  /// The handler does not run for calls that the caller cancelled, that are past their deadline, or
  /// that the session's end stopped. It does not run for a text that is no URI, and for calls that
  /// only change the stack.
  public func setFailedCallHandler(_ handler: FailedCallHandler?) {
    change { $0.settings.failedCallHandler = handler }
  }

  /// Sets the first page of each tab, in order; none for an app without tabs. Running sessions keep
  /// their pages.
  ///
  /// Throws ``RouterConfigurationError/tooManyTabs(limit:)`` beyond 16.
  public func setTabs(_ tabs: [RouteURI]) throws(RouterConfigurationError) {
    try change { (builder) throws(RouterConfigurationError) in
      guard tabs.count <= NavigationStack.maxTabs else {
        throw .tooManyTabs(limit: NavigationStack.maxTabs)
      }
      builder.settings.tabs = tabs
    }
  }

  /// Sets whether `+` in a query is a space, which is the default. `%2B` always is a plus.
  public func setDecodesPlusAsSpace(_ isSpace: Bool) {
    change { $0.settings.plusIsSpace = isSpace }
  }

  /// Sets the target of the URIs of a scheme that no route or host serves, which applies before the
  /// undefined-route handler; `nil` for none. The target receives the URI that was called as the
  /// parameter `uri`. A client that hosts the whole scheme serves all its URIs, unless the scheme is
  /// closed (``setScheme(_:isClosed:)``).
  ///
  /// Throws if the text is no target, or needs parameters.
  public func setUndefinedRoute(
    scheme: String, leadsTo target: String?
  ) throws(RouterConfigurationError) {
    var parsed: PatternTarget?
    if let target {
      do { parsed = try PatternTarget(undefinedRoute: target) } catch {
        throw .invalidTarget(error)
      }
    }
    try change { [parsed] (builder) throws(RouterConfigurationError) in
      try builder.change(scheme) { $0.undefinedTarget = parsed.map { .target($0) } ?? .nowhere }
    }
  }

  /// Sets the targets of an older server's actions
  /// (``RouterSnapshot/deepLink(action:url:params:exts:style:key:)``). In a target, `:action_url`
  /// stands for the URL, and the query of the URL overrides the target's own. Other actions lead to
  /// their URL itself.
  ///
  /// Throws ``RouterConfigurationError/invalidTarget(_:)`` for a text that is no target, or needs
  /// other parameters.
  public func setActions(_ actions: [String: String]) throws(RouterConfigurationError) {
    var targets: [String: PatternTarget] = [:]
    for (name, text) in actions {
      do { targets[name] = try PatternTarget(action: text) } catch { throw .invalidTarget(error) }
    }
    change { [targets] in $0.settings.actions = targets }
  }
}
