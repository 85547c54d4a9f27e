import WayPatterns
import WayValues

/// What a route table says of one scheme.
package struct SchemeDeclaration: Sendable, Hashable {
  /// In lower case.
  package let name: String
  /// Global routes do not serve it.
  package let isClosed: Bool
  /// Where a call goes on that nothing serves; nil for nowhere.
  package let undefined: RouteTarget?

  package init(name: String, isClosed: Bool, undefined: RouteTarget?) {
    self.name = name
    self.isClosed = isClosed
    self.undefined = undefined
  }
}

/// All that a route table declares.
package struct RouterDeclarations: Sendable {
  package var routes: [Route] = []
  package var redirects: [Redirect] = []
  package var schemes: [SchemeDeclaration] = []
  /// The first page of each tab, in order.
  package var tabs: [RouteURI] = []
  /// What the actions of an older server mean.
  package var actions: [String: RouteTarget] = [:]
  /// Whether `+` in a query is a space.
  package var plusIsSpace = true

  package init() {}
}

extension Router {
  /// Adds routes and redirects, and sets the rest. When one thing is refused, nothing has changed.
  package func declare(_ declarations: RouterDeclarations) throws(RouterError) {
    try change { (state) throws(RouterError) in
      var next = state
      for route in declarations.routes { _ = try next.add(route, replacing: false) }
      for redirect in declarations.redirects { try next.redirects.add(redirect) }
      for scheme in declarations.schemes {
        try next.change(scheme.name) { rule in
          rule.isClosed = scheme.isClosed
          rule.undefined = scheme.undefined
        }
      }
      if !declarations.tabs.isEmpty { next.tabs = declarations.tabs }
      if !declarations.actions.isEmpty { next.actions = declarations.actions }
      next.plusIsSpace = declarations.plusIsSpace
      state = next
    }
  }
}
