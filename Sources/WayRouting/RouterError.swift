import WayNavigation
import WayPatterns

/// Why a change to a router was refused. Nothing was changed.
public enum RouterError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The text is no pattern.
  case pattern(RoutePatternError)
  /// The route has no pattern or no name.
  case incomplete(route: String)
  /// Another route has the name.
  case nameTaken(String)
  /// Another route has such a pattern.
  case clash(RouteConflict)
  /// The kind does not fit the dispatcher of the pattern's scheme.
  case kindUnfit(route: String, kind: RouteKind, scheme: String, dispatcher: String)
  /// The handler is one for another kind of route.
  case handlerUnfit(route: String, kind: RouteKind)
  /// What is declared of a parameter contradicts itself.
  case parameterUnfit(route: String, parameter: String, reason: String)
  /// The fallback of the route needs a parameter that one of its patterns does not capture.
  case fallbackUnfit(route: String, parameter: String, pattern: String)
  /// A target of a redirect, fallback or scheme is none.
  case target(RoutePatternError)
  /// Another redirect begins with such a pattern.
  case redirectClash(from: String, other: String)
  /// A module serves the route already.
  case moduleClash(route: String, module: String)
  /// Two of ``RouteService`` are for one type.
  case serviceClash(service: String, other: String, type: String)
  /// The start has begun, and takes nothing more.
  case started
  /// No route has the name, or the registration is not in force any more.
  case unknown(String)
  /// The text is no scheme.
  case invalidScheme(String)
  /// More tabs than an app may have.
  case tooManyTabs(limit: Int)

  public var description: String {
    switch self {
    case .pattern(let error): "\(error)"
    case .incomplete(let route): "the route '\(route)' needs a name and at least one pattern"
    case .nameTaken(let name):
      "a route named '\(name)' is already registered; replace it or choose another name"
    case .clash(let clash): "\(clash)"
    case .kindUnfit(let route, let kind, let scheme, let dispatcher):
      "the route '\(route)' is a \(kind.rawValue), which the dispatcher '\(dispatcher)' of the "
        + "scheme"
        + " '\(scheme)' does not take"
    case .handlerUnfit(let route, let kind):
      "the handler does not fit the route '\(route)', which is a \(kind.rawValue)"
    case .parameterUnfit(let route, let parameter, let reason):
      "the parameter '\(parameter)' of the route '\(route)': \(reason)"
    case .fallbackUnfit(let route, let parameter, let pattern):
      "the fallback of the route '\(route)' needs ':\(parameter)', which its pattern '\(pattern)' "
        + "does not"
        + " capture, or only with an optional group"
    case .target(let error): "\(error)"
    case .redirectClash(let from, let other):
      "'\(from)' matches the same URIs as '\(other)', from which a redirect leads already"
    case .moduleClash(let route, let module):
      "the module '\(module)' serves the route '\(route)' already; remove one of the two, or give "
        + "the route of one"
        + " another name"
    case .serviceClash(let service, let other, let type):
      "the services '\(service)' and '\(other)' are both for the type \(type): remove one of the "
        + "two, have it conform to"
        + " RegisteredByHand, or register one before them by Router.service(_:name:make:methods:)"
    case .started: "the router has started: give it this before"
    case .unknown(let name): "no route named '\(name)' is registered"
    case .invalidScheme(let scheme):
      "'\(scheme)' is no scheme: a letter, then letters, digits, '+', '-', '.'"
    case .tooManyTabs(let limit): "an app has at most \(limit) tabs"
    }
  }
}
