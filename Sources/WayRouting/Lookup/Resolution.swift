import WayPatterns
import WayValues

/// The target that a URI resolves to.
public enum Resolution: Sendable {
  /// A declared route.
  case match(RouteMatch)
  /// No declared route. Hosts may serve the URI, then the undefined-route handler. `params` are
  /// those of the query and of the caller; the caller's win.
  case unmatched(UnmatchedURI, params: ValueObject)
  /// A change of the stack: `operation` is the path of the URI, `back` in
  /// `navigation:back?count=2`.
  indirect case navigation(uri: RouteURI, operation: String, params: ValueObject)

  /// The URI after all redirects.
  public var uri: RouteURI {
    switch self {
    case .match(let match): match.uri
    case .unmatched(let place, _): place.uri
    case .navigation(let uri, _, _): uri
    }
  }

  /// All parameters.
  public var params: ValueObject {
    switch self {
    case .match(let match): match.params
    case .unmatched(_, let params), .navigation(_, _, let params): params
    }
  }

  /// The declared route.
  public var route: Route? {
    if case .match(let match) = self { match.route } else { nil }
  }

  /// Whether the target is a declared route that needs no permission.
  package var isUnrestricted: Bool {
    if case .match(let match) = self { match.resolvedRoute.isUnrestricted } else { false }
  }

  /// An object that is the same whenever the same URI is looked up, as the key of a cache; `nil` if
  /// the resolution must not be cached.
  package var cacheKey: AnyObject? {
    switch self {
    case .match(let match): match.resolvedRoute.dependsOnCaller ? nil : match.resolvedRoute
    case .unmatched(let place, _): place.isCacheable ? place : nil
    case .navigation: nil
    }
  }

  /// Returns the resolution with these parameters instead of all others, after checking them.
  package func with(_ params: ValueObject) throws(RouterResolutionError) -> Resolution {
    switch self {
    case .match(let match): .match(try match.with(params))
    case .unmatched(let place, _): .unmatched(place, params: params)
    case .navigation(let uri, let operation, _):
      .navigation(uri: uri, operation: operation, params: params)
    }
  }
}
