import WayPatterns
import WayRouting
import WayTransport
import WayValues

/// The compiled rules of a ``Policy``. Immutable.
package final class CompiledPolicy: Sendable {
  /// One rule with its compiled selectors.
  struct CompiledRule: Sendable {
    /// The rule as written in the policy.
    let source: Policy.Rule
    let isDenial: Bool
    let methods: [MethodPattern]
    let origins: [OriginPattern]?
    let groups: [String]?
    let subjects: [String]?
    let agents: [String]?
    /// The names among the rule's routes; nil if it does not select routes.
    let routeNames: [String]?
    /// The indices of the rule's patterns in the table of all patterns.
    let routePatterns: Range<Int>
    let schemes: [String]?
    let topics: [MethodPattern]?
    let coversServer: Bool
    let coversInterceptors: Bool

    var name: String { source.name }
    var selectsRoutes: Bool { routeNames != nil }
  }

  let rules: [CompiledRule]
  /// The programs that rules name as agents. They are agents for the policy even if they do not say so.
  let agentIDs: Set<UTF8Key>
  /// The patterns of all rules.
  private let patterns: RouteTrie

  /// Throws if a rule is invalid, with the rule's name and the reason.
  package init(_ rules: [Policy.Rule]) throws(PolicyRuleError) {
    var ready: [CompiledRule] = []
    var patterns: [RoutePattern] = []
    for rule in rules {
      let first = patterns.count
      var names: [String]?
      if let routes = rule.routes {
        names = []
        for text in routes {
          if text.isRoutePattern {
            do { patterns.append(try RoutePattern(text)) } catch {
              throw PolicyRuleError(rule.name, "the pattern \(text.quoted): \(error)")
            }
          } else {
            names?.append(text)
          }
        }
      }
      var origins: [OriginPattern]?
      if let texts = rule.origins {
        origins = []
        for text in texts {
          guard let origin = OriginPattern(text) else {
            throw PolicyRuleError(
              rule.name, "the origin \(text.quoted) must be \(OriginPattern.expectedFormat)")
          }
          origins?.append(origin)
        }
      }
      ready.append(
        CompiledRule(
          source: rule, isDenial: rule.effect == .deny,
          methods: rule.methods.map(MethodPattern.init), origins: origins, groups: rule.groups,
          subjects: rule.subjects, agents: rule.agents, routeNames: names,
          routePatterns: first..<patterns.count,
          schemes: rule.schemes.map { $0.map { $0.lowercased() } },
          topics: rule.topics?.map(MethodPattern.init), coversServer: rule.coversServer,
          coversInterceptors: rule.coversInterceptors))
    }
    self.rules = ready
    agentIDs = Set(ready.flatMap { $0.agents ?? [] }.filter { $0 != "*" }.map(UTF8Key.init))
    self.patterns = RouteTrie(patterns.map { ($0, 0) })
  }

  /// A policy without rules, which allows nothing.
  static let denyAll = CompiledPolicy()

  private init() {
    rules = []
    agentIDs = []
    patterns = RouteTrie([])
  }

  /// The indices of the patterns that a URI matches.
  func patterns(matching uri: RouteURI) -> Set<Int> {
    guard let split = try? SplitURI(uri) else { return [] }
    return Set(patterns.candidates(split).map { patterns.entry(of: $0.form) })
  }
}

extension Policy {
  /// The compiled rules; nil if there are none. Throws if a rule is invalid.
  package func compiled() throws(PolicyRuleError) -> CompiledPolicy? {
    guard let rules else { return nil }
    return try CompiledPolicy(rules)
  }
}

/// The reason why a policy cannot be used.
package struct PolicyRuleError: Error, Hashable, CustomStringConvertible {
  /// The rule's name.
  package let rule: String
  package let reason: String

  init(_ rule: String, _ reason: String) {
    self.rule = rule
    self.reason = reason
  }

  package var description: String { "the rule \(rule.quoted): \(reason)" }
}

/// The name of a method or a topic, or a prefix of several names.
struct MethodPattern: Sendable {
  let text: String
  private let prefix: [UInt8]?

  /// A `*` at the end matches any suffix.
  init(_ text: String) {
    self.text = text
    prefix = text.utf8.last == UInt8(ascii: "*") ? Array(text.utf8.dropLast()) : nil
  }

  func covers(_ name: String) -> Bool {
    guard let prefix else { return text.isSameUTF8(as: name) }
    return name.utf8.starts(with: prefix)
  }
}

extension String {
  /// Whether the string is a pattern of routes, and not the name of a route.
  var isRoutePattern: Bool {
    utf8.first == UInt8(ascii: "/") || utf8.contains(UInt8(ascii: ":"))
  }
}
