import WayNavigation
import WayPatterns
import WayValues

/// What a route table says of one scheme.
package struct SchemeDeclaration: Sendable, Hashable {
  /// In lower case.
  package let name: String
  /// Global routes do not serve it.
  package let isClosed: Bool
  /// Where a call goes on that nothing serves; nil for nowhere.
  package let undefined: PatternTarget?

  package init(name: String, isClosed: Bool, undefined: PatternTarget?) {
    self.name = name
    self.isClosed = isClosed
    self.undefined = undefined
  }
}

/// All that a route table declares.
package struct RouterDeclarations: Sendable {
  /// Which table this is.
  package var stamp = TableStamp.none
  package var routes: [Route] = []
  package var redirects: [Redirect] = []
  package var schemes: [SchemeDeclaration] = []
  /// The first page of each tab, in order.
  package var tabs: [RouteURI] = []
  /// What the actions of an older server mean.
  package var actions: [String: PatternTarget] = [:]
  /// Whether `+` in a query is a space.
  package var plusIsSpace = true

  package init() {}
}

/// What tables declare beside routes and redirects. What other code says goes over it.
struct DeclaredRules: Sendable {
  private var schemes: [String: SchemeDeclaration] = [:]
  private(set) var tabs: [RouteURI] = []
  private(set) var actions: [String: PatternTarget] = [:]
  private(set) var plusIsSpace = true

  mutating func add(_ declarations: RouterDeclarations) {
    for scheme in declarations.schemes { schemes[scheme.name] = scheme }
    if !declarations.tabs.isEmpty { tabs = declarations.tabs }
    if !declarations.actions.isEmpty { actions = declarations.actions }
    plusIsSpace = declarations.plusIsSpace
  }

  /// The rules of all schemes, those of other code first.
  func over(_ rules: [String: SchemeTable.Rule]) -> [String: SchemeTable.Rule] {
    var rules = rules
    for (name, scheme) in schemes { rules[name] = rules[name, default: .init()].over(scheme) }
    return rules
  }
}

extension Router {
  /// Adds routes, redirects and rules. `anew` puts them in the place of all that was declared
  /// before; what other code has registered or set stays. When one thing is refused, nothing has
  /// changed.
  package func declare(
    _ declarations: RouterDeclarations, anew: Bool = false
  ) throws(RouterError) {
    try changeAside { (state) throws(RouterError) in
      var next = state
      try next.declare(declarations.routes, anew: anew)
      try next.redirects.declare(declarations.redirects, anew: anew)
      if anew {
        next.declared = DeclaredRules()
      }
      next.declared.add(declarations)
      next.table = declarations.stamp
      state = next
    }
  }
}
