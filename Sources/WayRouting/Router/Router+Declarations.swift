import WayNavigation
import WayPatterns
import WayValues

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

/// All declarations of a route table.
package struct RouterDeclarations: Sendable {
  /// The version and hash of the table.
  package var stamp = TableStamp.none
  package var routes: [Route] = []
  package var redirects: [Redirect] = []
  package var schemes: [SchemeDeclaration] = []
  /// The first page of each tab, in order.
  package var tabs: [RouteURI] = []
  /// The targets of an older server's actions.
  package var actions: [String: PatternTarget] = [:]
  /// Whether `+` in a query is a space.
  package var plusIsSpace = true

  package init() {}
}

/// The declarations of tables except routes and redirects. Settings of other code override them.
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

  /// Returns the rules of all schemes; those of other code override the declared ones.
  func completing(_ rules: [String: RouterSchemeTable.SchemeRule]) -> [String: RouterSchemeTable
    .SchemeRule]
  {
    var rules = rules
    for (name, scheme) in schemes {
      rules[name] = rules[name, default: .init()].addingDefaults(scheme)
    }
    return rules
  }
}

extension Router {
  /// Adds routes, redirects and rules. If `replacing` is `true`, they replace all earlier
  /// declarations; registrations and settings of other code stay. If one part is rejected, nothing
  /// changes.
  package func declare(
    _ declarations: RouterDeclarations, replacing: Bool = false
  ) throws(RouterConfigurationError) {
    try changeEagerly { (state) throws(RouterConfigurationError) in
      var next = state
      try next.declare(declarations.routes, replacing: replacing)
      try next.redirects.declare(declarations.redirects, replacing: replacing)
      if replacing {
        next.declared = DeclaredRules()
      }
      next.declared.add(declarations)
      next.table = declarations.stamp
      state = next
    }
  }
}
