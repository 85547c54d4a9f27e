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
  public package(set) var interceptors: [String] = []
  /// The names of the gates that the call has to pass, in order.
  public internal(set) var gates: [String] = []
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

extension RouteExplanation {
  /// The explanation as `router.explain` and `waybridge explain --json` return it.
  public var value: Value { .object(members) }

  /// The members of ``value``.
  package var members: ValueObject {
    let route = self.route.map { route -> Value in
      [
        "name": .string(route.name), "pattern": .string(pattern?.text ?? ""),
        "scheme": pattern?.scheme.map(Value.string) ?? .null,
      ]
    }
    return [
      "uri": .string(uri), "canOpen": .bool(canOpen),
      "kind": kind.map { .string($0.rawValue) } ?? .null, "route": route ?? .null,
      "params": .object(params), "sources": .object(sourceNames),
      "candidates": .array(candidates.map(\.value)),
      "redirects": .array(redirects.map(Value.string)),
      "releases": .array(rollouts.map(Value.string)),
      "interceptors": .array(interceptors.map(Value.string)),
      "gates": .array(gates.map(Value.string)),
      "fallback": fallback.map(Value.string) ?? .null,
      "reason": .string(reason),
    ]
  }

  private var sourceNames: ValueObject {
    ValueObject(zip(params.members, sources).map { ($0.name, .string($1.rawValue)) })
  }
}

extension RouteExplanation.ExplainedCandidate {
  var value: Value {
    var members: ValueObject = [
      "route": .string(route), "pattern": .string(pattern), "chosen": .bool(isChosen),
      "reason": .string(reason),
    ]
    members["params"] = params.map(Value.object)
    return .object(members)
  }
}

extension RouteExplanation {
  /// The explanation for people, in several lines, without a final line break.
  public var text: String { Self.text(of: value) }

  /// Returns the text of a ``value``, which may be another router's, from a response of
  /// `router.explain`.
  package static func text(of explanation: Value) -> String {
    var lines = [briefText(explanation["uri"])]
    var leads = briefText(explanation["kind"])
    if let name = explanation["route"]?["name"] { leads += " '\(briefText(name))'" }
    if let host = explanation["host"]?.string { leads += " of \(host.brief)" }
    lines.append(
      "  \(explanation["canOpen"]?.bool == true ? "opens" : "does not open"): "
        + "\(leads.isEmpty ? "" : leads + ", ")\(briefText(explanation["reason"]))")
    if let rule = explanation["policy"]?.string {
      lines.append("  refused by the policy: \(rule.brief)")
    }
    for redirect in explanation["redirects"]?.array ?? [] {
      lines.append("  redirected to: \(briefText(redirect))")
    }
    for release in explanation["releases"]?.array ?? [] {
      lines.append("  released: \(briefText(release))")
    }
    if let names = explanation["interceptors"]?.array, !names.isEmpty {
      lines.append("  intercepted by: " + names.map { briefText($0) }.joined(separator: ", "))
    }
    if let names = explanation["gates"]?.array, !names.isEmpty {
      lines.append("  passes the gates: " + names.map { briefText($0) }.joined(separator: ", "))
    }
    if let fallback = explanation["fallback"]?.string {
      lines.append("  if no host or handler serves it: \(fallback.brief)")
    }
    if let params = explanation["params"]?.object, !params.isEmpty {
      lines.append("  parameters:")
      for member in params.members {
        let source = briefText(explanation["sources"]?[member.name])
        lines.append("    \(member.name.brief) = \(member.value.brief)  (\(source))")
      }
    }
    if let candidates = explanation["candidates"]?.array, !candidates.isEmpty {
      lines.append("  tried:")
      for candidate in candidates {
        let columns = ["route", "pattern", "reason"].map { briefText(candidate[$0]) }
        lines.append(
          "    \(candidate["chosen"]?.bool == true ? "*" : "-") "
            + columns.joined(separator: "  "))
      }
    }
    return lines.joined(separator: "\n")
  }

  private static func briefText(_ value: Value?) -> String { value?.string?.brief ?? "" }
}
