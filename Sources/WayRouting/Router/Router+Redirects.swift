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
}
