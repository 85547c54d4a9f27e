import WayNavigation
import WayRPC
import WayRouting
import WayValues

/// A route table: one document with the routes of an app, shared by servers and clients.
///
/// `protocol/schema/table.schema.json` describes the document.
package struct RouteTable: Sendable {
  /// The version and hash of the table.
  package let stamp: TableStamp
  /// The original document.
  package let document: ValueObject
  /// The declarations of the document, its routes in order. Hosts serve a route until a handler is
  /// bound to it.
  package let declarations: RouterDeclarations
  /// The named types, in the order of the document.
  package let types: [(name: String, schema: ValueSchema)]
  /// The topics that the app publishes, in the order of the document.
  package let topics: [TableTopicDeclaration]
  /// The groups with their meanings; `nil` if the document does not declare them.
  package let groups: [(String, String)]?
  /// The permissions with their meanings; `nil` if the document does not declare them.
  package let permissions: [(String, String)]?

  /// The author's version of the document.
  package var version: String { stamp.version }

  /// Parses the whole document. Throws all of its errors.
  package init(parsing document: Value) throws(DocumentFaults) {
    var reader = TableReader()
    let known = [
      "$schema", "version", "types", "groups", "permissions", "topics", "routes", "gates",
      "redirects", "schemes", "plusIsSpace", "tabs", "actions",
    ]
    guard let root = reader.object(document, at: .root, known: known) else {
      throw DocumentFaults(faults: reader.faults)
    }
    _ = reader.string("$schema", of: root, at: .root)
    let version = reader.requiredString("version", of: root, at: .root)
    types = reader.namedTypes(of: root)
    groups = reader.vocabulary("groups", of: root)
    permissions = reader.vocabulary("permissions", of: root)
    reader.groups = groups.map { DeclaredNames($0.map(\.0)) }
    reader.permissions = permissions.map { DeclaredNames($0.map(\.0)) }
    var declarations = RouterDeclarations()
    declarations.routes = reader.routes(of: root)
    declarations.gates = reader.gates(of: root, routes: declarations.routes.map(\.name))
    declarations.redirects = reader.redirects(of: root)
    declarations.schemes = reader.schemes(of: root)
    declarations.plusIsSpace = reader.boolean("plusIsSpace", of: root, at: .root) ?? true
    declarations.tabs = reader.tabs(of: root)
    declarations.actions = reader.actions(of: root)
    topics = reader.topics(of: root)
    declarations.topics = Dictionary(
      topics.map { ($0.name, DeclaredTopic(data: $0.data)) }, uniquingKeysWith: { $1 })
    reader.checkRedirectLoops(declarations)
    var hash = ""
    do throws(EncodingFailure) { hash = try Self.hash(of: root) } catch {
      reader.addFault(.root, "\(error)")
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
    return hash.hexString
  }

  /// Adds the declarations of the table to a router. Call it before the app binds its handlers,
  /// which ``Router/handle(_:with:)`` does by route name. If `replacing` is set, they replace
  /// everything that tables have declared there.
  ///
  /// Throws, with nothing changed, if a route conflicts with a registered one or does not fit the
  /// dispatcher of its scheme.
  package func apply(to router: Router, replacing: Bool = false) throws(RouterConfigurationError) {
    try router.declare(declarations, replacing: replacing)
  }
}
