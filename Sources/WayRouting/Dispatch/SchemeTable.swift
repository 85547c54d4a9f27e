import WayNavigation
import WayPatterns

/// What is known of each scheme, found by the hash that a ``SplitURI`` already has.
struct SchemeTable: Sendable {
  /// What is known of one scheme.
  struct Rule: Sendable {
    /// Nil when the dispatcher was removed or none was ever there.
    var dispatcher: SchemeDispatcher?
    var isRemoved = false
    /// Global routes do not serve the scheme; nil where only a table may say so.
    var isClosed: Bool?
    /// Where a call goes on that nothing serves; nil where only a table may say so.
    var undefined: Undefined?

    /// The same with what a table declares where nothing else is said.
    func over(_ declared: SchemeDeclaration) -> Rule {
      var rule = self
      rule.isClosed = isClosed ?? declared.isClosed
      rule.undefined = undefined ?? declared.undefined.map(Undefined.target)
      return rule
    }
  }

  /// Where a call goes on.
  enum Undefined: Sendable {
    case nowhere
    case target(PatternTarget)
  }

  /// What a lookup needs of a rule. Has no reference, so that it is read without counting.
  struct Traits: Sendable {
    /// Where the rule is, or -1 for a scheme of which nothing is known.
    var rule: Int32 = -1
    var isRemoved = false
    var isClosed = false
    var isNavigation = false
    var isCustom = false
    /// The parameter `i` must be the URI of another app.
    var isThirdParty = false
    var takesPages = true
    var takesTasks = true
    var takesServices = true

    func takes(_ kind: RouteKind) -> Bool {
      switch kind {
      case .page: takesPages
      case .task: takesTasks
      case .service: takesServices
      }
    }
  }

  private var rules: [Rule] = []
  private var traits: [Traits] = []
  private var edges = EdgeTable()

  init(_ rules: [String: Rule]) {
    for (scheme, rule) in rules {
      let number = Int32(self.rules.count)
      edges.insert(from: 0, literal: Array(scheme.utf8), to: number)
      self.rules.append(rule)
      traits.append(Traits(rule, number))
    }
  }

  /// The traits of the scheme of a URI; those of a scheme without dispatcher when nothing is known
  /// of it.
  func traits(of split: borrowing SplitURI) -> Traits {
    let found = edges.child(of: 0, schemeOf: split)
    return found < 0 ? Traits() : traits[Int(found)]
  }

  func undefined(_ traits: Traits) -> PatternTarget? {
    guard traits.rule >= 0, case .target(let target)? = rules[Int(traits.rule)].undefined else {
      return nil
    }
    return target
  }

  func dispatcher(_ traits: Traits) -> SchemeDispatcher? {
    traits.rule < 0 ? nil : rules[Int(traits.rule)].dispatcher
  }
}

extension SchemeTable.Traits {
  init(_ rule: SchemeTable.Rule, _ number: Int32) {
    self.rule = number
    isRemoved = rule.isRemoved
    isClosed = rule.isClosed ?? false
    guard let dispatcher = rule.dispatcher else { return }
    if case .navigation = dispatcher.action { isNavigation = true }
    if case .custom = dispatcher.action { isCustom = true }
    isThirdParty = dispatcher.name == SchemeDispatcher.thirdParty.name
    takesPages = dispatcher.takes(.page)
    takesTasks = dispatcher.takes(.task)
    takesServices = dispatcher.takes(.service)
  }
}
