import WayPatterns
import WayRouting
import WayTransport
import WayValues

/// The rules of a ``Policy``, made ready to be asked. Immutable.
package final class CompiledPolicy: Sendable {
  /// One rule with what it selects by.
  struct Rule: Sendable {
    /// As the policy has it.
    let source: Policy.Rule
    let isDenial: Bool
    let methods: [MethodPattern]
    let origins: [OriginPattern]?
    let groups: [String]?
    let subjects: [String]?
    /// The names among its routes; nil where it does not select by routes.
    let routeNames: [String]?
    /// The numbers of its patterns in the table of all.
    let routePatterns: Range<Int>
    let schemes: [String]?
    let coversServer: Bool

    var name: String { source.name }
    var selectsRoutes: Bool { routeNames != nil }
  }

  let rules: [Rule]
  /// The patterns of all rules.
  private let patterns: RouteTrie

  /// Fails for a rule that cannot be read, with its name and what is wrong.
  package init(_ rules: [Policy.Rule]) throws(PolicyFault) {
    var ready: [Rule] = []
    var patterns: [RoutePattern] = []
    for rule in rules {
      let first = patterns.count
      var names: [String]?
      if let routes = rule.routes {
        names = []
        for text in routes {
          if text.isPattern {
            do { patterns.append(try RoutePattern(text)) } catch {
              throw PolicyFault(rule.name, "the pattern \(text.quoted): \(error)")
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
            throw PolicyFault(
              rule.name, "the origin \(text.quoted) must be \(OriginPattern.form)")
          }
          origins?.append(origin)
        }
      }
      ready.append(
        Rule(
          source: rule, isDenial: rule.effect == .deny,
          methods: rule.methods.map(MethodPattern.init), origins: origins, groups: rule.groups,
          subjects: rule.subjects, routeNames: names, routePatterns: first..<patterns.count,
          schemes: rule.schemes.map { $0.map { $0.lowercased() } },
          coversServer: rule.coversServer))
    }
    self.rules = ready
    self.patterns = RouteTrie(patterns.map { ($0, 0) })
  }

  /// Without a rule, by which nothing is allowed.
  static let closed = CompiledPolicy()

  private init() {
    rules = []
    patterns = RouteTrie([])
  }

  /// The numbers of the patterns that a URI matches.
  func patterns(matching uri: RouteURI) -> Set<Int> {
    guard let split = try? SplitURI(uri) else { return [] }
    return Set(patterns.candidates(split).map { patterns.entry(of: $0.form) })
  }
}

extension Policy {
  /// The rules, ready to be asked; nil where there are none. Fails for one that cannot be read.
  package func rulebook() throws(PolicyFault) -> CompiledPolicy? {
    guard let rules else { return nil }
    return try CompiledPolicy(rules)
  }
}

/// Why a policy cannot be used.
package struct PolicyFault: Error, Hashable, CustomStringConvertible {
  /// The rule's name.
  package let rule: String
  package let reason: String

  init(_ rule: String, _ reason: String) {
    self.rule = rule
    self.reason = reason
  }

  package var description: String { "the rule \(rule.quoted): \(reason)" }
}

/// The name of a method, or the beginning of several.
struct MethodPattern: Sendable {
  let text: String
  private let beginning: [UInt8]?

  /// A `*` at the end stands for any end.
  init(_ text: String) {
    self.text = text
    beginning = text.utf8.last == UInt8(ascii: "*") ? Array(text.utf8.dropLast()) : nil
  }

  func covers(_ method: String) -> Bool {
    guard let beginning else { return text.isSameUTF8(as: method) }
    return method.utf8.starts(with: beginning)
  }
}

extension String {
  /// Whether a text for a route is a pattern, and no name.
  var isPattern: Bool {
    utf8.first == UInt8(ascii: "/") || utf8.contains(UInt8(ascii: ":"))
  }
}
