import WayRouting
import WayValues

/// Where a call has been that did not come to its end at once. Apart, so that most journeys are
/// small.
final class Detour {
  /// Where the call has been redirected from, after the redirects of the table.
  let trail: [String]
  /// The module that was loaded last.
  private(set) var loaded: LazyModule?
  /// The parameters that interceptors have put in the place of the caller's.
  private(set) var changed: ValueObject?
  /// The hosts that have declined what the URI says.
  private(set) var declined: Set<SessionHosts.Host> = []
  /// The matches that are left for a call that was declined; nil before it was.
  private(set) var rest: ArraySlice<RouteMatch>?
  /// The best of the matches that were declined, or have no host, and have a fallback.
  private(set) var fallback: RouteMatch?

  init(trail: [String] = []) {
    self.trail = trail
  }

  /// The call begins anew, with the caller's own parameters.
  func begin(with module: LazyModule) {
    loaded = module
    changed = nil
  }

  /// Interceptors have put these in the place of the caller's parameters.
  func change(_ params: ValueObject) { changed = params }

  func decline(_ host: SessionHosts.Host) { declined.insert(host) }

  /// A match was passed over: where it has a fallback, the call may come back to that.
  func pass(_ match: RouteMatch) {
    if fallback == nil, match.route.fallback != nil { fallback = match }
  }

  /// On the way to the next match, whose interceptors and hosts are asked afresh; `rest` are those
  /// after it.
  func goOn(leaving rest: ArraySlice<RouteMatch>) {
    self.rest = rest
    loaded = nil
    changed = nil
    declined = []
  }
}
