import WayPatterns
import WayValues

extension Router {
  /// Sends the URIs that match `from` elsewhere, in the place of an earlier redirect with the same
  /// `from`.
  ///
  /// Throws when one of the two is wrong, or when another redirect matches the same URIs.
  public func redirect(_ from: String, to target: String) throws(RouterError) {
    let redirect: Redirect
    do { redirect = try Redirect(from: from, to: target) } catch { throw .target(error) }
    try self.redirect(contentsOf: [redirect])
  }

  /// Adds all redirects, or none of them when one is refused. Throws as ``redirect(_:to:)``.
  public func redirect(contentsOf redirects: [Redirect]) throws(RouterError) {
    try change { (state) throws(RouterError) in
      var next = state.redirects
      for redirect in redirects { try next.add(redirect) }
      state.redirects = next
    }
  }

  /// Takes a redirect back, by its `from` as it was written; false when there is none.
  @discardableResult
  public func removeRedirect(_ from: String) -> Bool {
    guard let pattern = try? RoutePattern(from) else { return false }
    return changeAlways { $0.redirects.remove(from: pattern) }
  }

  /// Takes all redirects back.
  public func removeRedirects() {
    changeAlways { $0.redirects = RedirectList() }
  }

  /// Sets where a call goes on whose URI nothing serves in a scheme, before the undefined-route
  /// handler is asked; nil for nowhere. The target gets the URI that was called as the parameter
  /// `uri`.
  ///
  /// Throws when it is no target, or needs parameters.
  public func undefinedRoute(
    scheme: String, leadsTo target: String?
  ) throws(RouterError) {
    var parsed: PatternTarget?
    if let target {
      do { parsed = try PatternTarget(undefinedRoute: target) } catch { throw .target(error) }
    }
    try change { [parsed] (state) throws(RouterError) in
      try state.change(scheme) { $0.undefined = parsed.map { .target($0) } ?? .nowhere }
    }
  }
}

extension PatternTarget {
  /// A target for what nothing matches, which therefore has no captures.
  package init(undefinedRoute text: String) throws(RoutePatternError) {
    try self.init(text)
    if let name = parameterNames.first {
      throw RoutePatternError(
        text, at: 0, "':\(name)' has no value here; the target gets the URI as the parameter 'uri'")
    }
  }
}
