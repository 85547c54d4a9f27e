import WayPatterns
import WayValues

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

  var isEmpty: Bool { redirects.isEmpty }

  init(_ redirects: [Redirect]) {
    self.redirects = redirects
    trie = RouteTrie(redirects.map { ($0.from, 0) })
  }

  /// Follows the redirects of a URI.
  func follow(
    _ uri: RouteURI, _ schemes: RouterSchemeTable, plusIsSpace: Bool, for caller: Caller?,
    explaining: Bool
  ) throws(RouterResolutionError) -> RedirectedURI {
    var result = RedirectedURI(uri: uri, chain: [uri.text])
    while let next = try next(
      &result, schemes, plusIsSpace: plusIsSpace, for: caller, explaining: explaining)
    {
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
    _ result: inout RedirectedURI, _ schemes: RouterSchemeTable, plusIsSpace: Bool,
    for caller: Caller?, explaining: Bool
  ) throws(RouterResolutionError) -> RouteURI? {
    let uri = result.uri
    let split: SplitURI
    do { split = try SplitURI(uri) } catch { throw .invalidURI(error) }
    guard uri.hasScheme else { return nil }
    let isClosed = schemes.traits(of: split).isClosed
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
        extraParameters: try uri.queryParameters(plusIsSpace: plusIsSpace),
        fragment: uri.fragment)
    } catch {
      throw RouterResolutionError(error)
    }
  }
}
