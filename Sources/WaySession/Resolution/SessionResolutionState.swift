import WayRouting
import WayValues

/// The state of a call that does not complete at once. It is separate, so that most resolutions are
/// small.
final class SessionResolutionState {
  /// The URIs that the call was redirected from, after the redirects of the table.
  let trail: [String]
  /// The module that was loaded last.
  private(set) var loadedModule: LazyModule?
  /// The parameters that interceptors have replaced the caller's with.
  private(set) var changedParams: ValueObject?
  /// The hosts that have declined the URI.
  private(set) var declinedHosts: Set<SessionHosts.RegisteredHost> = []
  /// The remaining matches of a call that was declined; `nil` before it was.
  private(set) var remainingMatches: ArraySlice<RouteMatch>?
  /// The best match with a fallback, of those that were declined or have no host.
  private(set) var fallbackMatch: RouteMatch?

  init(trail: [String] = []) {
    self.trail = trail
  }

  /// Restarts the resolution with the caller's own parameters.
  func restart(with module: LazyModule) {
    loadedModule = module
    changedParams = nil
  }

  /// Replaces the caller's parameters with those of interceptors.
  func replaceParams(_ params: ValueObject) { changedParams = params }

  func decline(_ host: SessionHosts.RegisteredHost) { declinedHosts.insert(host) }

  /// Skips a match. If the match has a fallback, the call may return to it.
  func skip(_ match: RouteMatch) {
    if fallbackMatch == nil, match.route.fallback != nil { fallbackMatch = match }
  }

  /// Advances to the next match, whose interceptors and hosts are evaluated from the start; `rest`
  /// are the matches after it.
  func advance(leaving rest: ArraySlice<RouteMatch>) {
    self.remainingMatches = rest
    loadedModule = nil
    changedParams = nil
    declinedHosts = []
  }
}
