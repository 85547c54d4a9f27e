import WayPatterns
import WayValues

/// A redirect of the URIs that match a pattern, which applies before the lookup of routes.
public struct Redirect: Sendable, Hashable {
  /// The maximum number of redirects that one call follows.
  public static let maxRedirects = 8

  /// One of several targets of a redirect.
  public struct Branch: Sendable, Hashable {
    /// The target; `nil` leaves the call at its URI. The target keeps query and fragment, and
    /// captures of `from` that it does not name become parameters of the query.
    public let to: PatternTarget?
    /// The callers that the branch is for; `nil` for all.
    public let rollout: RouteRollout?

    /// Creates a branch, which is checked when a redirect is created from it.
    public init(to: PatternTarget?, rollout: RouteRollout? = nil) {
      self.to = to
      self.rollout = rollout
    }
  }

  /// The pattern of the URIs that are redirected.
  public let from: RoutePattern
  /// The branches. The first one that includes the caller applies; if none does, the call stays at
  /// its URI.
  public let branches: [Branch]

  /// Creates a redirect for all callers. Throws an error that names the position and the remedy,
  /// also for a name in `to` that `from` does not capture.
  public init(from: String, to: String) throws(RoutePatternError) {
    try self.init(
      from: try RoutePattern(from), branches: [Branch(to: try PatternTarget(to))])
  }

  /// Creates a redirect with branches. Throws for a name in a target that `from` does not capture.
  public init(from: RoutePattern, branches: [Branch]) throws(RoutePatternError) {
    for to in branches.compactMap(\.to) {
      guard let name = to.firstParameter(missingIn: from) else { continue }
      throw RoutePatternError(
        to.text, at: 0,
        "\":\(name)\" is not captured by \"\(from)\", or only with an optional group")
    }
    self.from = from
    self.branches = branches
  }

  /// Returns the branch that applies to a caller, and its index; `nil` for none.
  func branch(for caller: Caller?) -> (index: Int, branch: Branch)? {
    for (index, branch) in branches.enumerated()
    where branch.rollout?.includes(caller, salt: from.text) ?? true {
      return (index, branch)
    }
    return nil
  }

  /// Returns a sentence about the branch that applies to a caller, and the reason; `nil` without
  /// rollouts.
  func reason(for caller: Caller?) -> String? {
    guard branches.contains(where: { $0.rollout != nil }) else { return nil }
    let chosen = branch(for: caller)
    let sentences = branches.prefix((chosen?.index ?? branches.count - 1) + 1).enumerated().map {
      let target = $1.to.map { "to '\($0.text)'" } ?? "staying"
      let isChosen = $0 == chosen?.index
      let reason = $1.rollout?.reason(caller, salt: from.text) ?? "it is for everybody"
      return "branch \($0) (\(target)) is \(isChosen ? "" : "not ")taken: \(reason)"
    }
    return "redirect from '\(from)': \(sentences.joined(separator: "; "))"
  }
}
