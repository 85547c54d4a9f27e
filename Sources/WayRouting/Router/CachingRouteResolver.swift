import WayPatterns
import WayValues

/// A snapshot that is renewed when the router has changed, with a cache of the last URIs. For one
/// thread.
package struct CachingRouteResolver {
  /// The maximum number of cached URIs, and the maximum length of one in bytes.
  private static let maxCachedURIs = 64
  private static let maxCachedLength = 256

  package let router: Router
  private var snapshot: RouterSnapshot
  private var cache: [UTF8Key: CachedResolution] = [:]
  /// The URI that was resolved last, found without hashing.
  private var last: (text: String, resolution: CachedResolution)?

  /// The part of a resolution that does not depend on the caller.
  private enum CachedResolution {
    case route(ResolvedRoute)
    case unmatched(UnmatchedURI)

    @inline(__always)
    func resolution(_ params: ValueObject, checking: Bool) throws(RouterResolutionError)
      -> Resolution
    {
      switch self {
      case .route(let found): .match(try found.match(params, checking: checking))
      case .unmatched(let uri): try uri.resolution(params, checking: checking)
      }
    }
  }

  /// Returns the text of the URI that was resolved last, as long as its resolution is valid; else
  /// an empty string.
  package mutating func lastText() -> String {
    refresh()
    return last?.text ?? ""
  }

  /// Creates a resolver with the router's snapshot, and builds that if necessary.
  package init(_ router: Router) {
    self.router = router
    snapshot = router.snapshot()
  }

  /// Returns the current snapshot, with one atomic load while nothing changes.
  package mutating func current() -> RouterSnapshot {
    refresh()
    return snapshot
  }

  @inline(__always)
  private mutating func refresh() {
    guard router.version != snapshot.version else { return }
    let before = snapshot
    snapshot = router.snapshot()
    cache = [:]
    last = nil
    // The last reference frees the routes, of which there may be many: not on this thread, where
    // calls wait.
    Task.detached { withExtendedLifetime(before) {} }
  }

  /// Resolves a URI as ``RouterSnapshot/resolve(_:params:checking:for:)-(RouteURI,_,_,_)`` does.
  /// Since a client often calls few routes, most texts need no parsing and no lookup.
  ///
  /// - Parameter isLast: whether `text` is the result of ``lastText()`` just before.
  package mutating func resolve(
    _ text: String, params: ValueObject, checking: Bool = true, for caller: Caller?,
    isLast: Bool = false
  ) throws(RouterResolutionError) -> Resolution {
    let snapshot = current()
    if let last, isLast || last.text.isSameUTF8(as: text) {
      return try last.resolution.resolution(params, checking: checking)
    }
    let key = UTF8Key(text)
    if let cached = cache[key] {
      last = (text, cached)
      return try cached.resolution(params, checking: checking)
    }
    let uri: RouteURI
    do { uri = try RouteURI(mapping: text) } catch { throw .invalidURI(error) }
    let resolution = try snapshot.resolve(uri, params: params, checking: checking, for: caller)
    if text.utf8.count <= Self.maxCachedLength, let cached = Self.cachedResolution(resolution) {
      if cache.count >= Self.maxCachedURIs { cache = [:] }
      cache[key] = cached
    }
    return resolution
  }

  /// Returns the part of a resolution that may be cached.
  private static func cachedResolution(_ resolution: Resolution) -> CachedResolution? {
    switch resolution {
    case .match(let match): match.resolvedRoute.dependsOnCaller ? nil : .route(match.resolvedRoute)
    case .unmatched(let uri, _): uri.isCacheable ? .unmatched(uri) : nil
    case .navigation: nil
    }
  }
}
