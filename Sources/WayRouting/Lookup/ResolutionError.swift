import WayNavigation
import WayPatterns
import WayValues

/// Why a URI leads nowhere.
public enum ResolutionError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is missing.
  public enum Missing: String, Sendable {
    /// Neither a declared route nor a host answers the URI.
    case noRoute
    /// The dispatcher of the scheme was removed.
    case noDispatcher
    /// The table has no such action, and there is no URL in its place.
    case noAction
  }

  /// Nothing answers the URI.
  case noRoute(uri: String, kind: Missing)
  /// The matching route is of another kind than the scheme's dispatcher, or the call, takes.
  case wrongKind(uri: String, route: String, kind: RouteKind)
  /// The text is no URI, or one that cannot be routed.
  case invalidURI(RouteURIError)
  /// Parameters that cannot be read or do not fit the route; never empty.
  case invalidParameters([PatternParameterFault])
  /// The redirects go in a circle, or there are more than ``Redirect/maxHops``: the URIs in their
  /// order.
  case redirectLoop(chain: [String])
  /// A value of Swift code would have to leave the process; the text says which, and why.
  case notOverTheWire(String)

  package init(_ error: PatternParameterError) {
    switch error {
    case .parameters(let faults): self = .invalidParameters(faults)
    case .uri(let error): self = .invalidURI(error)
    }
  }

  /// One fault of a parameter; `name` nil is for all parameters.
  static func fault(_ name: String?, _ message: String) -> ResolutionError {
    ResolutionError(PatternParameterError.fault(name, message))
  }

  public var description: String {
    switch self {
    case .noRoute(let uri, .noRoute): "no route for '\(uri)'"
    case .noRoute(let uri, .noDispatcher):
      "no dispatcher for the scheme of '\(uri)': it was removed"
    case .noRoute(let action, .noAction):
      "the table has no action '\(action)', and there is no action_url to open instead"
    case .wrongKind(let uri, let route, let kind):
      "'\(uri)' leads to the route '\(route)', which is a \(kind.rawValue)"
    case .invalidURI(let error): "not a URI: \(error)"
    case .invalidParameters(let faults):
      faults.map { "\($0.path): \($0.message)" }.joined(separator: "; ")
    case .redirectLoop(let chain):
      "redirected in a circle or more than \(Redirect.maxHops) times: "
        + chain.map(\.brief).joined(separator: " → ")
    case .notOverTheWire(let reason): reason
    }
  }
}
