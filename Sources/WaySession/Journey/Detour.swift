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
  private(set) var rest: ArraySlice<Match>?
  /// The best of the matches that were declined, or have no host, and have a fallback.
  private(set) var fallback: Match?

  init(trail: [String] = []) {
    self.trail = trail
  }

  private func with(_ change: (Detour) -> Void) -> Detour {
    let copy = Detour(trail: trail)
    copy.loaded = loaded
    copy.changed = changed
    copy.declined = declined
    copy.rest = rest
    copy.fallback = fallback
    change(copy)
    return copy
  }

  /// The call begins anew, with the caller's own parameters.
  func with(_ loaded: LazyModule) -> Detour {
    with {
      $0.loaded = loaded
      $0.changed = nil
    }
  }

  func with(changed: ValueObject) -> Detour { with { $0.changed = changed } }

  func with(declined: Set<SessionHosts.Host>) -> Detour { with { $0.declined = declined } }

  func with(fallback match: Match) -> Detour {
    match.route.fallback == nil || fallback != nil ? self : with { $0.fallback = match }
  }

  /// On the way to the next match, whose interceptors and hosts are asked afresh.
  func with(rest: ArraySlice<Match>) -> Detour {
    with {
      $0.rest = rest
      $0.loaded = nil
      $0.changed = nil
      $0.declined = []
    }
  }
}
