import WayNavigation
import WayPatterns
import WayValues

/// The resolution of a URI in detail: the routes that were tried, in order, and why each was chosen
/// or not. No handler runs.
public struct RouteExplanation: Sendable {
  /// The source of a parameter's value.
  public enum ParameterSource: String, Sendable {
    /// A segment of the URI.
    case path
    /// The query of the URI.
    case query
    /// The caller's parameters.
    case params
    /// The route's declaration.
    case `default`
  }

  /// A route that matches, or nearly does.
  public struct ExplainedCandidate: Sendable {
    /// The name of the route.
    public let route: String
    /// The pattern of the route that the URI was compared with.
    public let pattern: String
    /// Whether the URI resolves to this pattern.
    public let isChosen: Bool
    /// The reason why it was chosen or not.
    public let reason: String
    /// The values that the pattern captures from the path; `nil` if it does not match.
    public let params: ValueObject?
  }

  /// The maximum number of candidates.
  public static let maxCandidates = 32
  /// The maximum number of near misses among them.
  static let maxNearMisses = 8

  /// The URI that was explained, in its normal form: percent-encoded, without dot segments. A text
  /// that is no URI with a scheme is as it was passed.
  public internal(set) var uri: String
  /// Whether the URI resolves to something that can be opened or run. A router alone assumes that a
  /// host is connected if a route needs one.
  public package(set) var canOpen = false
  /// The kind of the target; `nil` if there is none.
  public package(set) var kind: RouteKind?
  /// The declared route that the URI resolves to.
  public internal(set) var route: Route?
  /// The pattern that matches the URI.
  public internal(set) var pattern: RoutePattern?
  /// The parameters of a call with this URI.
  public internal(set) var params = ValueObject()
  /// The source of each of ``params``, in their order.
  public internal(set) var sources: [ParameterSource] = []
  /// The candidates in the order in which they are tried, near misses last; at most
  /// ``maxCandidates``.
  public internal(set) var candidates: [ExplainedCandidate] = []
  /// The URIs that the redirects lead to, in order. The explanation is about the last one.
  public internal(set) var redirects: [String] = []
  /// The branches of redirects and the routes with a rollout that apply to the caller: a sentence
  /// with the reason for each that was tried.
  public internal(set) var rollouts: [String] = []
  /// The names of the interceptors that see the call, in order.
  public internal(set) var interceptors: [String] = []
  /// The next target if no handler or host serves the call; `nil` if there is none.
  public internal(set) var fallback: String?
  /// The result in one sentence.
  public package(set) var reason = ""
  /// The result of ``RouterSnapshot/resolve(_:params:checking:for:)-(RouteURI,_,_,_)``; `nil` if
  /// that throws.
  package var resolution: Resolution?

  init(uri: String) {
    self.uri = uri
  }
}

extension Router {
  /// Explains how the router resolves a URI now. It runs and changes nothing; a text that is no URI
  /// is explained too. `caller` matters if a ``RouteRollout`` applies.
  public func explain(
    _ uri: String, params: ValueObject = [:], for caller: Caller? = nil
  ) -> RouteExplanation {
    snapshot().explain(uri, params: params, for: caller)
  }
}
