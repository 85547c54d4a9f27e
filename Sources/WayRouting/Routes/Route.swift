import WayNavigation
import WayPatterns
import WayValues

/// A named destination with the patterns that lead to it. Immutable.
public final class Route: Sendable {
  /// Unique in a router.
  public let name: String
  /// At least one; each leads here.
  public let patterns: [RoutePattern]
  /// Must fit the dispatchers of the patterns' schemes.
  public let kind: RouteKind
  /// A few words for people.
  public let title: String?
  /// What the route is for, in a sentence or two.
  public let purpose: String?
  /// Among matching routes the highest is tried first.
  public let priority: Int
  /// What is known of its parameters. A call is checked against it before the route's handler sees
  /// it.
  public let parameters: [ParameterDeclaration]
  /// Whether a call with a parameter that is not declared is refused.
  public let isStrict: Bool
  /// The groups that it is in from the start; ``Router/add(routes:toGroup:)`` adds others.
  public let groups: [String]
  /// The groups of which a caller has to be in one; empty for everybody.
  public let permissions: [String]
  /// Where a call goes on when nobody can serve the route: no host is there, or its handler
  /// declines.
  public let fallback: PatternTarget?
  /// The pages that lie under this one where a link from outside leads to it, lowest first. `:name`
  /// stands for a parameter of the call.
  public let parents: [PatternTarget]
  /// What its result is; nil where that is not said.
  public let result: ValueSchema?
  /// How its page is shown where a call does not say; nil leaves all to the call.
  public let presentation: Presentation?
  /// For whom it is there; nil for everybody. Others go on with the next route that matches.
  public let release: Rollout?
  /// What `page.call` may ask of its pages.
  public let methods: [PageMethod]
  /// Who runs or shows it.
  public let handler: RouteHandler
  /// Nil where nothing is checked.
  let rules: ParameterRules?

  /// A route, which is checked when it is registered.
  public init(
    name: String, patterns: [RoutePattern], kind: RouteKind, title: String? = nil,
    purpose: String? = nil, priority: Int = 0, parameters: [ParameterDeclaration] = [],
    isStrict: Bool = false, result: ValueSchema? = nil, groups: [String] = [],
    permissions: [String] = [], fallback: PatternTarget? = nil, parents: [PatternTarget] = [],
    presentation: Presentation? = nil, release: Rollout? = nil, methods: [PageMethod] = [],
    handler: RouteHandler = .hosted
  ) {
    self.name = name
    self.patterns = patterns
    self.kind = kind
    self.title = title
    self.purpose = purpose
    self.priority = priority
    self.parameters = parameters
    self.isStrict = isStrict
    rules = ParameterRules(parameters, isStrict: isStrict, patterns: patterns)
    self.result = result
    self.groups = groups
    self.permissions = permissions
    self.fallback = fallback
    self.parents = parents
    self.presentation = presentation
    self.release = release
    self.methods = methods
    self.handler = handler
  }

  /// The same route with another handler.
  public func with(_ handler: RouteHandler) -> Route {
    Route(
      name: name, patterns: patterns, kind: kind, title: title, purpose: purpose,
      priority: priority, parameters: parameters, isStrict: isStrict, result: result,
      groups: groups, permissions: permissions, fallback: fallback, parents: parents,
      presentation: presentation, release: release, methods: methods, handler: handler)
  }
}
