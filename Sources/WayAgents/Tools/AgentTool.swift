import WayNavigation
import WayPatterns
import WayRouting
import WayValues

/// A route that agents may call: a task, a service, or a page with a result.
package struct AgentTool: Sendable {
  /// The name, unique among the tools of a table.
  package let name: String
  /// The route.
  package let route: Route
  /// The patterns that name a scheme, by which the tool is called.
  private let patterns: [RoutePattern]
  /// The argument that names the session in which the tool runs; `nil` for a route that Swift code
  /// serves, and that no client has to host.
  package let sessionArgument: String?

  /// Creates the tool of a route; `nil` if the route is none for agents, or its patterns name no
  /// scheme.
  package init?(_ route: Route) {
    let patterns = route.patterns.filter { $0.scheme != nil }
    guard route.agents != nil, !patterns.isEmpty, route.kind != .page || route.result != nil
    else { return nil }
    name = AgentToolName(ofRoute: route.name).text
    self.route = route
    self.patterns = patterns
    let names = route.parameters.map(\.name) + patterns.flatMap(\.parameterNames)
    sessionArgument = route.isHosted ? Self.unusedName("session", among: names) : nil
  }

  /// Returns a name that no parameter has, by appending underscores.
  private static func unusedName(_ name: String, among names: [String]) -> String {
    var unused = name
    while names.contains(where: unused.isSameUTF8) { unused += "_" }
    return unused
  }

  /// The names of the parameters that each form of each pattern captures.
  private var alwaysCapturedNames: Set<UTF8Key> {
    let forms = patterns.flatMap(\.expansions).map { Set($0.names.map(UTF8Key.init)) }
    return forms.dropFirst().reduce(forms.first ?? []) { $0.intersection($1) }
  }

  /// The parameters: those that the route declares, and those that only its patterns name.
  var parameters: [ParameterDeclaration] {
    let captured = alwaysCapturedNames
    var parameters = route.parameters.map { parameter in
      captured.contains(UTF8Key(parameter.name))
        ? ParameterDeclaration(parameter.name, parameter.schema, isRequired: true) : parameter
    }
    for name in patterns.flatMap(\.parameterNames)
    where !parameters.contains(where: { $0.name.isSameUTF8(as: name) }) {
      let isWildcard = name == RoutePattern.wildcardName
      parameters.append(
        ParameterDeclaration(
          name,
          isWildcard ? ValueSchema(.array, items: ValueSchema(.string)) : ValueSchema(.string),
          isRequired: captured.contains(UTF8Key(name))))
    }
    return parameters
  }

  /// Returns the call of the tool with some arguments. Throws the fault of arguments that no URI of
  /// the route can hold.
  package func call(_ call: MCPToolCall) throws(PatternParameterError) -> AgentToolCall {
    var params = call.arguments
    var session: String?
    if let sessionArgument, let value = params[sessionArgument] {
      guard let text = value.string ?? (value.isNull ? "" : nil) else {
        throw .fault(sessionArgument, "has to be a string")
      }
      session = text.isEmpty ? nil : text
      params[sessionArgument] = nil
    }
    return AgentToolCall(
      tool: self, uri: try uri(with: params), params: params, session: session, key: call.key)
  }

  /// Returns a URI of the route for the parameters that its path captures.
  private func uri(with params: ValueObject) throws(PatternParameterError) -> RouteURI {
    var first: PatternParameterError?
    for pattern in patterns {
      let names = pattern.parameterNames
      let captured = params.members.filter { member in
        names.contains(where: member.name.isSameUTF8)
      }
      do { return try pattern.uri(ValueObject(captured.map { ($0.name, $0.value) })) } catch {
        first = first ?? error
      }
    }
    throw first ?? .fault(nil, "no pattern of the route names a scheme")
  }

  /// A URI of the route with examples of the parameters that it needs; `nil` if no example fits.
  package var exampleURI: RouteURI? {
    let captured = alwaysCapturedNames
    let examples = parameters.filter { captured.contains(UTF8Key($0.name)) }
      .map { ($0.name, $0.schema.example) }
    return try? uri(with: ValueObject(examples))
  }
}

/// The call of a tool, as a client of a session makes it.
package struct AgentToolCall: Sendable {
  /// The tool.
  package let tool: AgentTool
  /// The URI.
  package let uri: RouteURI
  /// All parameters.
  package let params: ValueObject
  /// The session that the agent has named; `nil` if it has named none.
  package let session: String?
  /// The idempotency key; `nil` for none.
  package let key: String?

  /// The method of the call.
  package var method: String { tool.route.kind == .page ? "router.open" : "router.invoke" }

  /// Whether the URI leads to the route of the tool for a caller. If not, its arguments or a change
  /// of the table lead to another one.
  package func leadsToTool(in snapshot: RouterSnapshot, for caller: Caller?) -> Bool {
    guard let resolution = try? snapshot.resolve(uri, checking: false, for: caller) else {
      return false
    }
    return resolution.route?.name.isSameUTF8(as: tool.route.name) == true
  }
}

extension Route {
  /// Whether a client has to host the route.
  fileprivate var isHosted: Bool {
    switch handler {
    case .hosted: true
    case .task, .asyncTask, .page, .lazy: false
    }
  }
}

extension ValueSchema {
  /// A value that fits most schemas of the kind.
  fileprivate var example: Value {
    if let first = allowed?.first { return first }
    switch kind {
    case .string: return "\(format?.example ?? String(repeating: "x", count: exampleCount))"
    case .integer, .number: return range.minimum ?? range.maximum ?? 1
    case .boolean: return true
    case .array: return .array(Array(repeating: items?.example ?? "x", count: exampleCount))
    case .object: return [:]
    }
  }

  /// A number of characters or elements that fits.
  private var exampleCount: Int { min(max(count.minimum ?? 1, 1), 64) }
}

extension ValueSchema.StringFormat {
  fileprivate var example: String {
    switch self {
    case .dateTime: "2026-01-31T09:30:00Z"
    case .date: "2026-01-31"
    case .time: "09:30:00Z"
    case .email: "a@example.org"
    case .uri: "https://example.org/"
    case .uuid: "00000000-0000-4000-8000-000000000000"
    }
  }
}
