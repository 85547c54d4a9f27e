import WayNavigation
import WayPatterns

/// The reason why a change of a router was rejected. The router is unchanged.
public enum RouterConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The text is no pattern.
  case invalidPattern(RoutePatternError)
  /// The route has no pattern or no name.
  case incomplete(route: String)
  /// Another route has the name.
  case duplicateName(String)
  /// Another route has an equivalent pattern.
  case conflict(RouteConflict)
  /// The kind does not fit the dispatcher of the pattern's scheme.
  case kindMismatch(route: String, kind: RouteKind, scheme: String, dispatcher: String)
  /// The handler is one for another kind of route.
  case handlerMismatch(route: String, kind: RouteKind)
  /// The declaration of a parameter contradicts itself.
  case invalidParameter(route: String, parameter: String, reason: String)
  /// The fallback of the route needs a parameter that one of its patterns does not capture.
  case invalidFallback(route: String, parameter: String, pattern: String)
  /// A target of a redirect, fallback or scheme is invalid.
  case invalidTarget(RoutePatternError)
  /// Another redirect has an equivalent `from`.
  case redirectConflict(from: String, other: String)
  /// Another module serves the route already.
  case moduleConflict(route: String, module: String)
  /// Two ``RouteService`` types are for one type.
  case serviceConflict(service: String, other: String, type: String)
  /// The start has begun, and accepts no further work.
  case alreadyStarted
  /// No route has the name, or the registration is no longer valid.
  case unknownRoute(String)
  /// The text is no scheme.
  case invalidScheme(String)
  /// There are more tabs than an app may have.
  case tooManyTabs(limit: Int)

  public var description: String {
    switch self {
    case .invalidPattern(let error): "\(error)"
    case .incomplete(let route): "the route \"\(route)\" needs a name and at least one pattern"
    case .duplicateName(let name):
      "a route named \"\(name)\" is already registered; replace it or choose another name"
    case .conflict(let conflict): "\(conflict)"
    case .kindMismatch(let route, let kind, let scheme, let dispatcher):
      "the route \"\(route)\" is a \(kind.rawValue), which the dispatcher \"\(dispatcher)\" of the "
        + "scheme"
        + " \"\(scheme)\" does not take"
    case .handlerMismatch(let route, let kind):
      "the handler does not fit the route \"\(route)\", which is a \(kind.rawValue)"
    case .invalidParameter(let route, let parameter, let reason):
      "the parameter \"\(parameter)\" of the route \"\(route)\": \(reason)"
    case .invalidFallback(let route, let parameter, let pattern):
      "the fallback of the route \"\(route)\" needs \":\(parameter)\", which its pattern \"\(pattern)\" "
        + "does not"
        + " capture, or only with an optional group"
    case .invalidTarget(let error): "\(error)"
    case .redirectConflict(let from, let other):
      "\"\(from)\" matches the same URIs as \"\(other)\", which already has a redirect"
    case .moduleConflict(let route, let module):
      "the module \"\(module)\" serves the route \"\(route)\" already; remove one of the two, or give "
        + "the route of one"
        + " another name"
    case .serviceConflict(let service, let other, let type):
      "the services \"\(service)\" and \"\(other)\" are both for the type \(type): remove one of the "
        + "two, have it conform to"
        + " ManualRegistration, or register one before them by"
        + " Router.registerService(_:name:make:methods:)"
    case .alreadyStarted: "the router has already started; do this before the start"
    case .unknownRoute(let name): "no route named \"\(name)\" is registered"
    case .invalidScheme(let scheme):
      "\"\(scheme)\" is not a scheme: a letter, then letters, digits, \"+\", \"-\", \".\""
    case .tooManyTabs(let limit): "an app may have at most \(limit) tabs"
    }
  }
}

/// Two patterns that match the same URIs with the same priority, so that a lookup could not choose
/// between them.
public struct RouteConflict: Error, Sendable, Hashable, CustomStringConvertible {
  /// The pattern that was rejected.
  public let pattern: String
  /// The name of its route.
  public let route: String
  /// The name of the route that has an equivalent pattern already.
  public let other: String
  /// Whether the rejected route has a handler and the other one has none, so that the handler may
  /// be meant for the other one.
  public let lacksHandler: Bool

  /// Creates a conflict of `pattern`, of `route`, with a pattern of `other`.
  package init(pattern: String, route: String, other: String, lacksHandler: Bool = false) {
    self.pattern = pattern
    self.route = route
    self.other = other
    self.lacksHandler = lacksHandler
  }

  public var description: String {
    "the pattern \"\(pattern)\" of the route \"\(route)\" has the shape and the priority of a pattern "
      + "of"
      + " \"\(other)\"; "
      + (lacksHandler
        ? "if it is to serve that route, use handle(\"\(other)\", with: …)"
        : "change its priority or remove one")
  }
}
