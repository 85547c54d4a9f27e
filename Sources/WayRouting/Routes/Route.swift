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
  /// What AI agents may expect of the route; `nil` if it is no tool for them.
  public let agents: RouteAgents?
  /// The handler that runs or shows the route.
  public let handler: RouteHandler
  /// The handler that also checks the result of a synchronous task.
  package let checkedHandler: RouteHandler
  /// The rules for parameters; `nil` if nothing is checked.
  let rules: ParameterRules?
  /// Whether the types of its parameters decide which URIs its patterns match.
  package let matchesByType: Bool

  /// Creates a route, which is checked when it is registered.
  public init(
    name: String, patterns: [RoutePattern], kind: RouteKind, title: String? = nil,
    purpose: String? = nil, priority: Int = 0, parameters: [ParameterDeclaration] = [],
    isStrict: Bool = false, result: ValueSchema? = nil, groups: [String] = [],
    permissions: [String] = [], fallback: PatternTarget? = nil, parents: [PatternTarget] = [],
    presentation: Presentation? = nil, rollout: RouteRollout? = nil,
    methods: [RoutePageMethod] = [], agents: RouteAgents? = nil,
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
    matchesByType = rules?.hasPathTypes ?? false
    self.result = result
    self.groups = groups
    self.permissions = permissions
    self.fallback = fallback
    self.parents = parents
    self.presentation = presentation
    self.rollout = rollout
    self.methods = methods
    self.agents = agents
    self.handler = handler
    checkedHandler = handler.checking(result)
  }

  /// Returns the route with another handler.
  public func with(_ handler: RouteHandler) -> Route {
    Route(
      name: name, patterns: patterns, kind: kind, title: title, purpose: purpose,
      priority: priority, parameters: parameters, isStrict: isStrict, result: result,
      groups: groups, permissions: permissions, fallback: fallback, parents: parents,
      presentation: presentation, rollout: rollout, methods: methods, agents: agents,
      handler: handler)
  }
}

extension Route {
  /// Returns a URI of the route with these parameters, by the first of the ``patterns`` that can be
  /// written with them.
  ///
  /// Throws the error of ``RoutePattern/uri(_:scheme:)`` for the first pattern if none can.
  public func uri(
    _ params: ValueObject = [:], scheme: String? = nil
  ) throws(PatternParameterError) -> RouteURI {
    var first: PatternParameterError?
    for pattern in patterns {
      do { return try pattern.uri(params, scheme: scheme) } catch { first = first ?? error }
    }
    throw first ?? .fault(nil, "the route \"\(name.brief)\" has no pattern")
  }

  /// Returns the values that the patterns capture from a URI that one of them matches.
  func pathParams(of uri: RouteURI) throws(PatternParameterError) -> ValueObject {
    let trie = RouteTrie(patterns.map { ($0, 0) })
    guard let split = try? SplitURI(uri), let best = trie.best(split) else { return [:] }
    return try trie.captures(of: best, in: split)
  }
}

extension RouteURI {
  /// Returns the URI with a query that holds the parameters. If a parameter of the path has another
  /// value, the path is rebuilt from the patterns of the route.
  package func completed(
    with params: ValueObject, pathParams: ValueObject, route: Route?
  ) throws(PatternParameterError) -> RouteURI {
    let isPathUnchanged = pathParams.members.allSatisfy { member in
      params[member.name].map { $0 == member.value || $0.isText(member.value.string) } == true
    }
    if let route, !isPathUnchanged {
      return try route.uri(params, scheme: scheme).adding(fragment: fragment)
    }
    return try replacingQuery(
      with: ValueObject(
        params.members.filter { pathParams[$0.name] == nil }.map { ($0.name, $0.value) }))
  }
}

extension Value {
  /// Whether the route's declaration converts the text of a path to this value.
  fileprivate func isText(_ text: String?) -> Bool {
    switch self {
    case .integer(let value): text == "\(value)"
    case .number(let number): text == number.digits
    case .bool(let value): text == "\(value)"
    default: false
    }
  }
}
