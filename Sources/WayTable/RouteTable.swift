import WayRouting
import WayValues

/// The route table: one document that says which routes an app has, for all ends.
///
/// `protocol/schema/table.schema.json` describes the document.
package struct RouteTable: Sendable {
  /// What the author calls this state of the document.
  package let version: String
  /// The routes in the order of the document, each left to hosts until a handler is bound to it.
  package let routes: [Route]
  /// The schemes, in lower case, that global routes do not serve.
  package let closedSchemes: [String]
  /// Whether `+` in a query is a space.
  package let plusIsSpace: Bool
  /// The first page of each tab, in order.
  package let tabs: [RouteURI]
  /// What the actions of an older server mean; nil for one that leads to its own URL.
  package let actions: [String: String?]

  /// Checks the whole document; throws every fault that it has.
  package init(parsing document: Value) throws(TableFaults) {
    var reader = TableReader()
    let root = reader.object(
      document, at: .root,
      known: ["$schema", "version", "routes", "schemes", "plusIsSpace", "tabs", "actions"])
    guard let root else { throw TableFaults(faults: reader.faults) }
    _ = reader.text("$schema", of: root, at: .root)
    let version = reader.requiredText("version", of: root, at: .root)
    routes = reader.routes(of: root)
    closedSchemes = reader.closedSchemes(of: root)
    plusIsSpace = reader.bool("plusIsSpace", of: root, at: .root) ?? true
    tabs = reader.tabs(of: root)
    actions = reader.actions(of: root)
    guard reader.faults.isEmpty, let version else { throw TableFaults(faults: reader.faults) }
    self.version = version
  }

  /// Registers the routes and sets the rules of the schemes. Meant for before an app binds its handlers,
  /// which ``Router/handle(_:with:)`` does by the names of the routes.
  ///
  /// Throws, with nothing changed, when a route clashes with a registered one or does not fit the dispatcher
  /// of its scheme.
  package func apply(to router: Router) throws(RouterError) {
    try router.register(contentsOf: routes)
    for scheme in closedSchemes { try router.closeScheme(scheme) }
    router.setPlusIsSpace(plusIsSpace)
    if !tabs.isEmpty { try router.setTabs(tabs) }
    if !actions.isEmpty { try router.setActions(actions) }
  }
}
