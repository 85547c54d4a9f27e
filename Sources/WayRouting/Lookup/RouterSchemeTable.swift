import WayNavigation
import WayPatterns

/// The declaration of one scheme in a route table.
package struct SchemeDeclaration: Sendable, Hashable {
  /// The name in lower case.
  package let name: String
  /// Whether the scheme is closed to global routes.
  package let isClosed: Bool
  /// The target of a call that no route or host serves; `nil` for none.
  package let undefinedTarget: PatternTarget?

  package init(name: String, isClosed: Bool, undefinedTarget: PatternTarget?) {
    self.name = name
    self.isClosed = isClosed
    self.undefinedTarget = undefinedTarget
  }
}

/// The rules of each scheme, found by the hash that a ``SplitURI`` has already computed.
struct RouterSchemeTable: Sendable {
  /// The rule of one scheme.
  struct SchemeRule: Sendable {
    /// The dispatcher; `nil` if it was removed or never set.
    var dispatcher: SchemeDispatcher?
    var isRemoved = false
    /// Whether the scheme is closed to global routes; `nil` leaves this to a table.
    var isClosed: Bool?
    /// The target of a call that no route or host serves; `nil` leaves this to a table.
    var undefinedTarget: UndefinedTarget?

    /// Returns the rule with the declarations of a table for everything that it does not set.
    func addingDefaults(_ declared: SchemeDeclaration) -> SchemeRule {
      var rule = self
      rule.isClosed = isClosed ?? declared.isClosed
      rule.undefinedTarget = undefinedTarget ?? declared.undefinedTarget.map(UndefinedTarget.target)
      return rule
    }
  }

  /// The target of a call that no route or host serves.
  enum UndefinedTarget: Sendable {
    case nowhere
    case target(PatternTarget)
  }

  /// The part of a rule that a lookup needs. It has no reference, so that reading it does not count
  /// references.
  struct SchemeTraits: Sendable {
    /// The index of the rule, or -1 for a scheme without one.
    var ruleIndex: Int32 = -1
    var isRemoved = false
    var isClosed = false
    var isNavigation = false
    var isCustom = false
    /// Whether the parameter `i` must be the URI of another app.
    var isThirdParty = false
    var acceptsPages = true
    var acceptsTasks = true
    var acceptsServices = true

    func accepts(_ kind: RouteKind) -> Bool {
      switch kind {
      case .page: acceptsPages
      case .task: acceptsTasks
      case .service: acceptsServices
      }
    }
  }

  private var rules: [SchemeRule] = []
  private var traits: [SchemeTraits] = []
  private var edges = TrieEdgeTable()

  init(_ rules: [String: SchemeRule]) {
    for (scheme, rule) in rules {
      let number = Int32(self.rules.count)
      edges.insert(from: 0, literal: Array(scheme.utf8), to: number)
      self.rules.append(rule)
      traits.append(SchemeTraits(rule, number))
    }
  }

  /// Returns the traits of the scheme of a URI; those of a scheme without a dispatcher if it has no
  /// rule.
  func traits(of split: borrowing SplitURI) -> SchemeTraits {
    let found = edges.child(of: 0, schemeOf: split)
    return found < 0 ? SchemeTraits() : traits[Int(found)]
  }

  /// Returns the traits of a scheme by its name; those of a scheme without a dispatcher if it has
  /// no rule.
  func traits(ofScheme name: String) -> SchemeTraits {
    guard let uri = try? RouteURI(name + ":"), let split = try? SplitURI(uri) else {
      return SchemeTraits()
    }
    return traits(of: split)
  }

  func undefinedTarget(_ traits: SchemeTraits) -> PatternTarget? {
    guard traits.ruleIndex >= 0,
      case .target(let target)? = rules[Int(traits.ruleIndex)].undefinedTarget
    else {
      return nil
    }
    return target
  }

  func dispatcher(_ traits: SchemeTraits) -> SchemeDispatcher? {
    traits.ruleIndex < 0 ? nil : rules[Int(traits.ruleIndex)].dispatcher
  }
}

extension RouterSchemeTable.SchemeTraits {
  init(_ rule: RouterSchemeTable.SchemeRule, _ number: Int32) {
    self.ruleIndex = number
    isRemoved = rule.isRemoved
    isClosed = rule.isClosed ?? false
    guard let dispatcher = rule.dispatcher else { return }
    if case .navigation = dispatcher.action { isNavigation = true }
    if case .custom = dispatcher.action { isCustom = true }
    isThirdParty = dispatcher.name == SchemeDispatcher.thirdParty.name
    acceptsPages = dispatcher.accepts(.page)
    acceptsTasks = dispatcher.accepts(.task)
    acceptsServices = dispatcher.accepts(.service)
  }
}

extension PatternTarget {
  /// Creates a target for a URI that no pattern matches, which therefore has no captures.
  package init(undefinedRoute text: String) throws(RoutePatternError) {
    try self.init(text)
    if let name = parameterNames.first {
      throw RoutePatternError(
        text, at: 0,
        "\":\(name)\" has no value here; the target gets the URI as the parameter \"uri\"")
    }
  }
}
