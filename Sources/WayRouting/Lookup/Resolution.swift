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

/// A URI that resolves to no declared route in one snapshot, independent of the caller's
/// parameters. A class, so that it is passed on as one reference.
public final class UnmatchedURI: Sendable {
  /// The URI after all redirects.
  public let uri: RouteURI
  /// The dispatcher of its scheme; `nil` for a scheme without one.
  public let dispatcher: SchemeDispatcher?
  /// Whether its scheme is closed: only patterns that name it serve it.
  package let isClosed: Bool
  /// Whether the resolution is the same for all callers as long as the snapshot is current.
  let isCacheable: Bool
  /// The parameters of the query.
  private let params: ValueObject
  /// Whether the caller's parameters are checked as those of a third party's app.
  private let isThirdParty: Bool

  init(
    _ uri: RouteURI, _ dispatcher: SchemeDispatcher?, params: ValueObject, isClosed: Bool,
    isThirdParty: Bool, isCacheable: Bool
  ) {
    self.uri = uri
    self.dispatcher = dispatcher
    self.params = params
    self.isClosed = isClosed
    self.isThirdParty = isThirdParty
    self.isCacheable = isCacheable
  }

  /// Creates a URI that was not looked up.
  package convenience init(_ uri: RouteURI) {
    self.init(
      uri, nil, params: [:], isClosed: false, isThirdParty: false, isCacheable: false)
  }

  /// Returns the resolution of one call. If `checking` is `false`, parameters that a caller may
  /// still add are not checked.
  func resolution(_ params: ValueObject, checking: Bool) throws(RouterResolutionError) -> Resolution
  {
    var merged = params
    if !self.params.isEmpty {
      merged = self.params
      merged.merge(params)
    }
    if isThirdParty, checking { try merged.checkThirdParty() }
    return .unmatched(self, params: merged)
  }
}

extension Resolution {
  /// The target of a call.
  fileprivate var callTarget: any CallTarget {
    switch self {
    case .match(let match): match
    case .unmatched(let unmatched, let params): ExplicitTarget(unmatched.uri, params, nil)
    case .navigation(let uri, _, let params): ExplicitTarget(uri, params, nil)
    }
  }
}

extension Call {
  /// Creates a call from the resolution of a URI.
  package init(
    _ resolution: Resolution, exts: ValueObject, navigator: any Navigator, caller: Caller,
    context: PendingCallContext?
  ) {
    self.init(
      resolution.callTarget, exts: exts, navigator: navigator, caller: caller, context: context)
  }
}
