import WayNavigation
import WayRPC
import WayRouting
import WayValues

/// The route table: one document that says which routes an app has, for all ends.
///
/// `protocol/schema/table.schema.json` describes the document.
package struct RouteTable: Sendable {
  /// Which state of the table this is.
  package let stamp: TableStamp
  /// The document as it was given.
  package let document: ValueObject
  /// What the document declares; its routes in its order, each left to hosts until a handler is
  /// bound to it.
  package let declarations: RouterDeclarations
  /// The named types, in the document's order.
  package let types: [(name: String, schema: ValueSchema)]
  /// What the app publishes, in the document's order.
  package let topics: [TableTopicDeclaration]
  /// The groups with what each means; nil where the document does not declare them.
  package let groups: [(String, String)]?
  /// The permissions with what each means; nil where the document does not declare them.
  package let permissions: [(String, String)]?

  /// What the author calls this state of the document.
  package var version: String { stamp.version }

  /// Checks the whole document; throws every fault that it has.
  package init(parsing document: Value) throws(DocumentFaults) {
    var reader = TableReader()
    let known = [
      "$schema", "version", "types", "groups", "permissions", "topics", "routes", "redirects",
      "schemes", "plusIsSpace", "tabs", "actions",
    ]
    guard let root = reader.object(document, at: .root, known: known) else {
      throw DocumentFaults(faults: reader.faults)
    }
    _ = reader.text("$schema", of: root, at: .root)
    let version = reader.requiredText("version", of: root, at: .root)
    types = reader.namedTypes(of: root)
    groups = reader.vocabulary("groups", of: root)
    permissions = reader.vocabulary("permissions", of: root)
    reader.groups = groups.map { $0.map(\.0) }
    reader.permissions = permissions.map { $0.map(\.0) }
    var declarations = RouterDeclarations()
    declarations.routes = reader.routes(of: root)
    declarations.redirects = reader.redirects(of: root)
    declarations.schemes = reader.schemes(of: root)
    declarations.plusIsSpace = reader.bool("plusIsSpace", of: root, at: .root) ?? true
    declarations.tabs = reader.tabs(of: root)
    declarations.actions = reader.actions(of: root)
    topics = reader.topics(of: root)
    reader.checkLoops(declarations)
    var hash = ""
    do throws(EncodingFailure) { hash = try Self.hash(of: root) } catch {
      reader.fault(.root, "\(error)")
    }
    guard reader.faults.isEmpty, let version else { throw DocumentFaults(faults: reader.faults) }
    stamp = TableStamp(version: version, hash: hash)
    declarations.stamp = stamp
    self.declarations = declarations
    self.document = root
  }

  /// The hash of a document, see ``TableStamp/hash``.
  private static func hash(of document: ValueObject) throws(EncodingFailure) -> String {
    var document = document
    document["$schema"] = nil
    var hash = StableHash()
    hash.add(try JSON.text(.object(document)))
    return hash.text
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
