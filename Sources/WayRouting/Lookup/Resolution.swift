import WayPatterns
import WayValues

/// Where a URI leads.
public enum Resolution: Sendable {
  /// To a declared route.
  case match(RouteMatch)
  /// To no declared route. Hosts may serve it, then the undefined-route handler. `params` are the
  /// query's under the caller's.
  case undeclared(UnmatchedURI, params: ValueObject)
  /// To the stack: `operation` is what follows the scheme, `back` in `navigation:back?count=2`.
  indirect case navigation(uri: RouteURI, operation: String, params: ValueObject)

  /// The URI, as the redirects have left it.
  public var uri: RouteURI {
    switch self {
    case .match(let match): match.uri
    case .undeclared(let place, _): place.uri
    case .navigation(let uri, _, _): uri
    }
  }

  /// All parameters.
  public var params: ValueObject {
    switch self {
    case .match(let match): match.params
    case .undeclared(_, let params), .navigation(_, _, let params): params
    }
  }

  /// The declared route.
  public var route: Route? {
    if case .match(let match) = self { match.route } else { nil }
  }

  /// Whether it is a declared route that needs no permission.
  package var isForAll: Bool {
    if case .match(let match) = self { match.found.isForAll } else { false }
  }

  /// The same object whenever the same URI is looked up, for who remembers what it has found out
  /// about that; nil where nothing lasts.
  package var lasting: AnyObject? {
    switch self {
    case .match(let match): match.found.isPersonal ? nil : match.found
    case .undeclared(let place, _): place.isLasting ? place : nil
    case .navigation: nil
    }
  }

  /// The same with other parameters in the place of all, which are checked.
  package func with(_ params: ValueObject) throws(ResolutionError) -> Resolution {
    switch self {
    case .match(let match): .match(try match.with(params))
    case .undeclared(let place, _): .undeclared(place, params: params)
    case .navigation(let uri, let operation, _):
      .navigation(uri: uri, operation: operation, params: params)
    }
  }
}
