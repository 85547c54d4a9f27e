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

/// The redirects of a snapshot.
struct RedirectTable: Sendable {
  /// The result of following the redirects of a URI.
  struct RedirectedURI {
    /// The last URI.
    var uri: RouteURI
    /// All URIs in order, beginning with the one that was called.
    var chain: [String]
    /// Whether the result may differ for another caller.
    var dependsOnCaller = false
    /// The reasons for the branches that applied; only if they are explained.
    var reasons: [String] = []
  }

  private let redirects: [Redirect]
  private let trie: RouteTrie

  /// Returns `nil` without redirects.
  init?(_ redirects: [Redirect]) {
    guard !redirects.isEmpty else { return nil }
    self.redirects = redirects
    trie = RouteTrie(redirects.map { ($0.from, 0) })
  }

  /// Follows the redirects of a URI.
  func follow(
    _ uri: RouteURI, in snapshot: RouterSnapshot, for caller: Caller?, explaining: Bool = false
  ) throws(RouterResolutionError) -> RedirectedURI {
    var result = RedirectedURI(uri: uri, chain: [uri.text])
    while let next = try next(&result, in: snapshot, for: caller, explaining: explaining) {
      result.uri = next
      let isLoop = result.chain.contains(next.text)
      result.chain.append(next.text)
      guard !isLoop, result.chain.count <= Redirect.maxRedirects + 1 else {
        throw .redirectLoop(chain: result.chain)
      }
    }
    return result
  }

  private func next(
    _ result: inout RedirectedURI, in snapshot: RouterSnapshot, for caller: Caller?,
    explaining: Bool
  ) throws(RouterResolutionError) -> RouteURI? {
    let uri = result.uri
    let split: SplitURI
    do { split = try SplitURI(uri) } catch { throw .invalidURI(error) }
    guard uri.hasScheme else { return nil }
    let isClosed = snapshot.schemes.traits(of: split).isClosed
    var best = trie.best(split, in: .scheme)
    if best == nil, !isClosed { best = trie.best(split, in: .global) }
    guard let found = best else { return nil }
    let redirect = redirects[trie.entry(of: found.form)]
    if redirect.branches.first?.rollout != nil { result.dependsOnCaller = true }
    if explaining, let reason = redirect.reason(for: caller) { result.reasons.append(reason) }
    guard let target = redirect.branch(for: caller)?.branch.to else { return nil }
    do {
      return try target.uri(
        try trie.captures(of: found, in: split),
        extraParameters: try uri.queryParameters(plusIsSpace: snapshot.plusIsSpace),
        fragment: uri.fragment)
    } catch {
      throw RouterResolutionError(error)
    }
  }
}
