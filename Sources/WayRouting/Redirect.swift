import WayPatterns
import WayValues

/// Sends the URIs that match a pattern elsewhere, before any route is looked for.
public struct Redirect: Sendable, Hashable {
  /// How many redirects one call follows at most.
  public static let maxHops = 8

  /// Which URIs are redirected.
  public let from: RoutePattern
  /// Where to. Query and fragment go along, and so do those captures of `from` that it does not
  /// name, in the query.
  public let to: RouteTarget

  /// Throws an error that names the place and the mend; among them a name in `to` that `from` does
  /// not capture.
  public init(from: String, to: String) throws(RoutePatternError) {
    try self.init(from: try RoutePattern(from), to: try RouteTarget(to))
  }

  /// Throws for a name in `to` that `from` does not capture.
  package init(from: RoutePattern, to: RouteTarget) throws(RoutePatternError) {
    if let name = to.firstName(missingIn: from) {
      throw RoutePatternError(
        to.text, at: 0, "':\(name)' is not captured by '\(from)', or only with an optional group")
    }
    self.from = from
    self.to = to
  }
}

/// The redirects of a snapshot.
struct RedirectTable: Sendable {
  private let redirects: [Redirect]
  private let trie: RouteTrie

  /// Nil where there are none.
  init?(_ redirects: [Redirect]) {
    guard !redirects.isEmpty else { return nil }
    self.redirects = redirects
    trie = RouteTrie(redirects.map { ($0.from, 0) })
  }

  /// Where a URI leads in the end, and the URIs on the way, itself the first.
  func follow(
    _ uri: RouteURI, in snapshot: RouterSnapshot
  ) throws(RoutingError) -> (uri: RouteURI, chain: [String]) {
    var uri = uri
    var chain = [uri.text]
    while let next = try next(after: uri, in: snapshot) {
      uri = next
      let isLoop = chain.contains(uri.text)
      chain.append(uri.text)
      guard !isLoop, chain.count <= Redirect.maxHops + 1 else {
        throw .redirectLoop(chain: chain)
      }
    }
    return (uri, chain)
  }

  private func next(
    after uri: RouteURI, in snapshot: RouterSnapshot
  ) throws(RoutingError) -> RouteURI? {
    let split: SplitURI
    do { split = try SplitURI(uri) } catch { throw .invalidURI(error) }
    guard uri.hasScheme else { return nil }
    let isClosed = snapshot.schemes.traits(of: split).isClosed
    var best = trie.best(split, in: .scheme)
    if best == nil, !isClosed { best = trie.best(split, in: .global) }
    guard let found = best else { return nil }
    let redirect = redirects[trie.entry(of: found.form)]
    do {
      return try redirect.to.uri(
        try trie.captures(of: found, in: split),
        carrying: try uri.queryParameters(plusIsSpace: snapshot.plusIsSpace),
        fragment: uri.fragment)
    } catch {
      throw RoutingError(error)
    }
  }
}
