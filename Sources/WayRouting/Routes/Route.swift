import WayNavigation
import WayPatterns
import WayValues

/// A named destination with the patterns that lead to it. Immutable.
public final class Route: Sendable {
  /// The name, unique in a router.
  public let name: String
  /// The patterns that lead to the route; at least one.
  public let patterns: [RoutePattern]
  /// The kind, which must fit the dispatchers of the patterns' schemes.
  public let kind: RouteKind
  /// A short title for people.
  public let title: String?
  /// The purpose of the route, in a sentence or two.
  public let purpose: String?
  /// The priority; among matching routes the one with the highest is tried first.
  public let priority: Int
  /// The declared parameters. A call is checked against them before the route's handler runs.
  public let parameters: [ParameterDeclaration]
  /// Whether a call with a parameter that is not declared is rejected.
  public let isStrict: Bool
  /// The groups of the route; ``Router/add(routes:toGroup:)`` adds others.
  public let groups: [String]
  /// The groups of which a caller needs one; empty for no restriction.
  public let permissions: [String]
  /// The next target of a call if nothing can serve the route: no host is connected, or its handler
  /// declines.
  public let fallback: PatternTarget?
  /// The pages beneath this one when a deep link opens it, lowest first. `:name` stands for a
  /// parameter of the call.
  public let parents: [PatternTarget]
  /// The schema of the result; `nil` if it is not declared.
  public let result: ValueSchema?
  /// The presentation if a call does not specify it; `nil` leaves all to the call.
  public let presentation: Presentation?
  /// The callers that the route is for; `nil` for all. For other callers the next matching route
  /// applies.
  public let rollout: RouteRollout?
  /// The methods of its pages for `page.call`.
  public let methods: [RoutePageMethod]
  /// The handler that runs or shows the route.
  public let handler: RouteHandler
  /// The rules for parameters; `nil` if nothing is checked.
  let rules: ParameterRules?

  /// Creates a route, which is checked when it is registered.
  public init(
    name: String, patterns: [RoutePattern], kind: RouteKind, title: String? = nil,
    purpose: String? = nil, priority: Int = 0, parameters: [ParameterDeclaration] = [],
    isStrict: Bool = false, result: ValueSchema? = nil, groups: [String] = [],
    permissions: [String] = [], fallback: PatternTarget? = nil, parents: [PatternTarget] = [],
    presentation: Presentation? = nil, rollout: RouteRollout? = nil,
    methods: [RoutePageMethod] = [],
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
    self.rollout = rollout
    self.methods = methods
    self.handler = handler
  }

  /// Returns the route with another handler.
  public func with(_ handler: RouteHandler) -> Route {
    Route(
      name: name, patterns: patterns, kind: kind, title: title, purpose: purpose,
      priority: priority, parameters: parameters, isStrict: isStrict, result: result,
      groups: groups, permissions: permissions, fallback: fallback, parents: parents,
      presentation: presentation, rollout: rollout, methods: methods, handler: handler)
  }
}
