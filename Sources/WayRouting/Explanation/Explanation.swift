import WayNavigation
import WayPatterns
import WayValues

/// How a router reads a URI: which routes were tried in which order, and why each was taken or not.
/// Nothing is run.
public struct Explanation: Sendable {
  /// Where the value of a parameter came from.
  public enum Source: String, Sendable {
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
  public struct Candidate: Sendable {
    /// The name of the route.
    public let route: String
    /// The one of its patterns that this is about.
    public let pattern: String
    /// Whether the URI leads here.
    public let isChosen: Bool
    /// Why it was taken or not.
    public let reason: String
    /// What the pattern takes from the path; nil where it does not match.
    public let params: ValueObject?
  }

  /// How many candidates are told at most.
  public static let maxCandidates = 32
  /// How many of them may be near misses.
  static let maxMisses = 8

  /// The URI as it was given.
  public let uri: String
  /// Whether the URI leads to something that can be opened or run. A router alone takes a host for
  /// granted where a route needs one.
  public package(set) var canOpen = false
  /// What it leads to; nil for nothing.
  public package(set) var kind: RouteKind?
  /// The declared route it leads to.
  public internal(set) var route: Route?
  /// The pattern by which it does.
  public internal(set) var pattern: RoutePattern?
  /// The parameters that a call would have.
  public internal(set) var params = ValueObject()
  /// Where each of ``params`` came from, in their order.
  public internal(set) var sources: [Source] = []
  /// In the order in which they are tried, near misses behind; at most ``maxCandidates``.
  public internal(set) var candidates: [Candidate] = []
  /// Where the redirects lead, one after the other; the last is what the rest is about.
  public internal(set) var redirects: [String] = []
  /// Which branch of a redirect, and which released route, the caller gets, and why: a sentence for
  /// each that was asked.
  public internal(set) var releases: [String] = []
  /// The interceptors that see the call, in their order, by their names.
  public internal(set) var interceptors: [String] = []
  /// Where a call goes on when nobody serves it; nil for nowhere.
  public internal(set) var fallback: String?
  /// The answer in a sentence.
  public package(set) var reason = ""
  /// What ``RouterSnapshot/resolve(_:params:checking:for:)-(RouteURI,_,_,_)`` gives; nil where it throws.
  package var resolution: Resolution?

  init(uri: String) {
    self.uri = uri
  }
}

extension Router {
  /// How the router reads a URI now. Runs nothing and changes nothing; a text that is no URI is
  /// explained too. `caller` counts where a ``Release`` says so.
  public func explain(
    _ uri: String, params: ValueObject = [:], for caller: Caller? = nil
  ) -> Explanation {
    snapshot().explain(uri, params: params, for: caller)
  }
}
