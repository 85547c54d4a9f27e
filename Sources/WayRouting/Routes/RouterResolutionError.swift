import WayNavigation
import WayPatterns
import WayValues

/// The reason why a URI cannot be resolved.
public enum RouterResolutionError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The part that is missing.
  public enum NoRouteReason: String, Sendable {
    /// Neither a declared route nor a host serves the URI.
    case noRoute
    /// The dispatcher of the scheme was removed.
    case noDispatcher
    /// The table has no such action, and there is no URL to use instead.
    case noAction
  }

  /// Nothing serves the URI.
  case noRoute(uri: String, kind: NoRouteReason)
  /// The matching route is of a kind that the scheme's dispatcher, or the call, does not accept.
  case wrongKind(uri: String, route: String, kind: RouteKind)
  /// The text is no URI, or one that cannot be routed.
  case invalidURI(RouteURIError)
  /// Parameters that cannot be read or do not fit the route; never empty.
  case invalidParameters([PatternParameterFault])
  /// The redirects form a loop, or there are more than ``Redirect/maxRedirects``: the URIs in order.
  case redirectLoop(chain: [String])
  /// A value of Swift code would have to leave the process. The text names the value and the
  /// reason.
  case notOverTheWire(String)

  package init(_ error: PatternParameterError) {
    switch error {
    case .parameters(let faults): self = .invalidParameters(faults)
    case .uri(let error): self = .invalidURI(error)
    }
  }

  /// Returns an error with one parameter fault; `name` is `nil` for all parameters.
  static func parameterFault(_ name: String?, _ message: String) -> RouterResolutionError {
    RouterResolutionError(PatternParameterError.fault(name, message))
  }

  public var description: String {
    switch self {
    case .noRoute(let uri, .noRoute): "no route matches \"\(uri)\""
    case .noRoute(let uri, .noDispatcher):
      "the dispatcher of the scheme of \"\(uri)\" was removed"
    case .noRoute(let action, .noAction):
      "the table has no action \"\(action)\", and there is no action_url to open instead"
    case .wrongKind(let uri, let route, let kind):
      "\"\(uri)\" leads to the route \"\(route)\", which is a \(kind.rawValue)"
    case .invalidURI(let error): "not a URI: \(error)"
    case .invalidParameters(let faults):
      faults.map { "\($0.path): \($0.message)" }.joined(separator: "; ")
    case .redirectLoop(let chain):
      "redirected in a loop or more than \(Redirect.maxRedirects) times: "
        + chain.map(\.brief).joined(separator: " → ")
    case .notOverTheWire(let reason): reason
    }
  }
}
