import WayPatterns
import WayValues

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
    try change { (state) throws(RouterConfigurationError) in
      var next = state.redirects
      for redirect in redirects { try next.add(redirect) }
      state.redirects = next
    }
  }

  /// Removes a redirect by its `from` as it was written; returns `false` if there is none.
  @discardableResult
  public func removeRedirect(_ from: String) -> Bool {
    guard let pattern = try? RoutePattern(from) else { return false }
    return changeUnconditionally { $0.redirects.remove(from: pattern) }
  }

  /// Removes all redirects.
  public func removeRedirects() {
    changeUnconditionally { $0.redirects = RedirectList() }
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
    try change { [parsed] (state) throws(RouterConfigurationError) in
      try state.change(scheme) { $0.undefinedTarget = parsed.map { .target($0) } ?? .nowhere }
    }
  }
}

extension PatternTarget {
  /// Creates a target for a URI that no pattern matches, which therefore has no captures.
  package init(undefinedRoute text: String) throws(RoutePatternError) {
    try self.init(text)
    if let name = parameterNames.first {
      throw RoutePatternError(
        text, at: 0,
        "\":\(name)\" has no value here; the target gets the URI as the parameter \"uri\"")
    }
  }
}
