import WayPatterns
import WayValues

/// Keeps a snapshot and takes a new one when the router has changed; remembers where the last URIs
/// led. For one thread.
package struct CachingResolver {
  /// How many URIs are remembered, and how long one may be in bytes.
  private static let maxRemembered = 64
  private static let maxRememberedLength = 256

  package let router: Router
  private var snapshot: RouterSnapshot
  private var remembered: [UTF8Key: Place] = [:]
  /// The one that was asked for last, found without hashing.
  private var last: (text: String, place: Place)?

  /// What a URI leads to, without anything of the caller's.
  private enum Place {
    case route(ResolvedRoute)
    case undeclared(UnmatchedURI)

    @inline(__always)
    func resolution(_ params: ValueObject, checking: Bool) throws(ResolutionError) -> Resolution {
      switch self {
      case .route(let found): .match(try found.match(params, checking: checking))
      case .undeclared(let uri): try uri.resolution(params, checking: checking)
      }
    }
  }

  /// The text of the URI that was asked for last, as long as it leads where it led; else empty.
  package mutating func lastText() -> String {
    renew()
    return last?.text ?? ""
  }

  /// Takes the router's snapshot, which builds it when nobody has before.
  package init(_ router: Router) {
    self.router = router
    snapshot = router.snapshot()
  }

  /// The snapshot that is in force: one atomic load while nothing changes.
  package mutating func current() -> RouterSnapshot {
    renew()
    return snapshot
  }

  @inline(__always)
  private mutating func renew() {
    guard router.version != snapshot.version else { return }
    let before = snapshot
    snapshot = router.snapshot()
    remembered = [:]
    last = nil
    // The last who holds it frees its routes, which may be many: not here, where calls wait.
    Task.detached { withExtendedLifetime(before) {} }
  }

  /// Where a URI leads, as ``RouterSnapshot/resolve(_:params:checking:for:)-(RouteURI,_,_,_)`` says. A
  /// client calls few routes often, so that most texts need neither be parsed nor looked up again.
  ///
  /// - Parameter isLast: whether the text is what ``lastText()`` has just given.
  package mutating func resolve(
    _ text: String, params: ValueObject, checking: Bool = true, for caller: Caller?,
    isLast: Bool = false
  ) throws(ResolutionError) -> Resolution {
    let snapshot = current()
    if let last, isLast || last.text.isSameUTF8(as: text) {
      return try last.place.resolution(params, checking: checking)
    }
    let key = UTF8Key(text)
    if let place = remembered[key] {
      last = (text, place)
      return try place.resolution(params, checking: checking)
    }
    let uri: RouteURI
    do { uri = try RouteURI(mapping: text) } catch { throw .invalidURI(error) }
    let resolution = try snapshot.resolve(uri, params: params, checking: checking, for: caller)
    if text.utf8.count <= Self.maxRememberedLength, let place = Self.place(resolution) {
      if remembered.count >= Self.maxRemembered { remembered = [:] }
      remembered[key] = place
    }
    return resolution
  }

  /// What may be remembered of where a URI leads.
  private static func place(_ resolution: Resolution) -> Place? {
    switch resolution {
    case .match(let match): match.found.isPersonal ? nil : .route(match.found)
    case .undeclared(let uri, _): uri.isLasting ? .undeclared(uri) : nil
    case .navigation: nil
    }
  }
}
