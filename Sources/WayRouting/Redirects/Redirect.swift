import WayPatterns
import WayValues

/// Sends the URIs that match a pattern elsewhere, before any route is looked for.
public struct Redirect: Sendable, Hashable {
  /// How many redirects one call follows at most.
  public static let maxHops = 8

  /// One way of several that a redirect may take.
  public struct Branch: Sendable, Hashable {
    /// Where to; nil leaves the call where it is. Query and fragment go along, and so do those
    /// captures of `from` that it does not name, in the query.
    public let to: PatternTarget?
    /// Whom it is for; nil for everybody.
    public let release: Rollout?

    /// A branch, which is checked when a redirect is made of it.
    public init(to: PatternTarget?, release: Rollout? = nil) {
      self.to = to
      self.release = release
    }
  }

  /// Which URIs are redirected.
  public let from: RoutePattern
  /// The first that is for the caller is taken; a call that none is for stays where it is.
  public let branches: [Branch]

  /// A redirect for everybody. Throws an error that names the place and the mend; among them a name
  /// in `to` that `from` does not capture.
  public init(from: String, to: String) throws(RoutePatternError) {
    try self.init(
      from: try RoutePattern(from), branches: [Branch(to: try PatternTarget(to))])
  }

  /// A redirect with branches. Throws for a name in a target that `from` does not capture.
  public init(from: RoutePattern, branches: [Branch]) throws(RoutePatternError) {
    for to in branches.compactMap(\.to) {
      guard let name = to.firstName(missingIn: from) else { continue }
      throw RoutePatternError(
        to.text, at: 0, "':\(name)' is not captured by '\(from)', or only with an optional group")
    }
    self.from = from
    self.branches = branches
  }

  /// The branch that a caller takes, and its place from 0; nil for none.
  func branch(for caller: Caller?) -> (index: Int, branch: Branch)? {
    for (index, branch) in branches.enumerated()
    where branch.release?.admits(caller, salt: from.text) ?? true {
      return (index, branch)
    }
    return nil
  }

  /// Which branch a caller takes, and why.
  func reason(for caller: Caller?) -> String? {
    guard branches.contains(where: { $0.release != nil }) else { return nil }
    let taken = branch(for: caller)
    let told = branches.prefix((taken?.index ?? branches.count - 1) + 1).enumerated().map {
      let way = $1.to.map { "to '\($0.text)'" } ?? "staying"
      let isTaken = $0 == taken?.index
      let reason = $1.release?.reason(caller, salt: from.text) ?? "it is for everybody"
      return "branch \($0) (\(way)) is \(isTaken ? "" : "not ")taken: \(reason)"
    }
    return "redirect from '\(from)': \(told.joined(separator: "; "))"
  }
}

/// The redirects of a snapshot.
struct RedirectTable: Sendable {
  /// Where a URI is led.
  struct RedirectedURI {
    /// In the end.
    var uri: RouteURI
    /// The URIs on the way, the one that was called first.
    var chain: [String]
    /// Whether it may be another for another caller.
    var isPersonal = false
    /// Which branches were taken, and why; only where that is asked for.
    var reasons: [String] = []
  }

  private let redirects: [Redirect]
  private let trie: RouteTrie

  /// Nil where there are none.
  init?(_ redirects: [Redirect]) {
    guard !redirects.isEmpty else { return nil }
    self.redirects = redirects
    trie = RouteTrie(redirects.map { ($0.from, 0) })
  }

  /// Where a URI leads in the end.
  func follow(
    _ uri: RouteURI, in snapshot: RouterSnapshot, for caller: Caller?, explaining: Bool = false
  ) throws(ResolutionError) -> RedirectedURI {
    var way = RedirectedURI(uri: uri, chain: [uri.text])
    while let next = try next(&way, in: snapshot, for: caller, explaining: explaining) {
      way.uri = next
      let isLoop = way.chain.contains(next.text)
      way.chain.append(next.text)
      guard !isLoop, way.chain.count <= Redirect.maxHops + 1 else {
        throw .redirectLoop(chain: way.chain)
      }
    }
    return way
  }

  private func next(
    _ way: inout RedirectedURI, in snapshot: RouterSnapshot, for caller: Caller?, explaining: Bool
  ) throws(ResolutionError) -> RouteURI? {
    let uri = way.uri
    let split: SplitURI
    do { split = try SplitURI(uri) } catch { throw .invalidURI(error) }
    guard uri.hasScheme else { return nil }
    let isClosed = snapshot.schemes.traits(of: split).isClosed
    var best = trie.best(split, in: .scheme)
    if best == nil, !isClosed { best = trie.best(split, in: .global) }
    guard let found = best else { return nil }
    let redirect = redirects[trie.entry(of: found.form)]
    if redirect.branches.first?.release != nil { way.isPersonal = true }
    if explaining, let reason = redirect.reason(for: caller) { way.reasons.append(reason) }
    guard let target = redirect.branch(for: caller)?.branch.to else { return nil }
    do {
      return try target.uri(
        try trie.captures(of: found, in: split),
        carrying: try uri.queryParameters(plusIsSpace: snapshot.plusIsSpace),
        fragment: uri.fragment)
    } catch {
      throw ResolutionError(error)
    }
  }
}
