import WayRouting
import WayValues

/// The route table: one document that says which routes an app has, for all ends.
///
/// `protocol/schema/table.schema.json` describes the document.
package struct RouteTable: Sendable {
  /// What the author calls this state of the document.
  package let version: String
  /// What the document declares; its routes in its order, each left to hosts until a handler is
  /// bound to it.
  package let declarations: RouterDeclarations

  /// Checks the whole document; throws every fault that it has.
  package init(parsing document: Value) throws(DocumentFaults) {
    var reader = TableReader()
    let known = [
      "$schema", "version", "routes", "redirects", "schemes", "plusIsSpace", "tabs", "actions",
    ]
    guard let root = reader.object(document, at: .root, known: known) else {
      throw DocumentFaults(faults: reader.faults)
    }
    _ = reader.text("$schema", of: root, at: .root)
    let version = reader.requiredText("version", of: root, at: .root)
    var declarations = RouterDeclarations()
    declarations.routes = reader.routes(of: root)
    declarations.redirects = reader.redirects(of: root)
    declarations.schemes = reader.schemes(of: root)
    declarations.plusIsSpace = reader.bool("plusIsSpace", of: root, at: .root) ?? true
    declarations.tabs = reader.tabs(of: root)
    declarations.actions = reader.actions(of: root)
    guard reader.faults.isEmpty, let version else { throw DocumentFaults(faults: reader.faults) }
    self.version = version
    declarations.version = version
    self.declarations = declarations
  }

  /// Adds what the table declares to a router. Meant for before an app binds its handlers, which
  /// ``Router/handle(_:with:)`` does by the names of the routes. `anew` puts it in the place of all
  /// that tables have declared there.
  ///
  /// Throws, with nothing changed, when a route clashes with a registered one or does not fit the
  /// dispatcher of its scheme.
  package func apply(to router: Router, anew: Bool = false) throws(RouterError) {
    try router.declare(declarations, anew: anew)
  }
}
