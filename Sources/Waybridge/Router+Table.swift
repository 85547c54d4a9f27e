import FoundationEssentials
import WayRPC
import WayTable

extension Router {
  /// Registers the routes of a route table, a JSON document (`protocol/schema/table.schema.json`),
  /// and sets its rules of schemes. Each route is left to hosts until ``handle(_:with:)`` gives it
  /// a handler. Meant for an app's start, since the file is read at once.
  ///
  /// Throws, with no route registered, when the file cannot be read or anything in it is wrong.
  ///
  /// - Returns: the table's version.
  @discardableResult
  public func load(tableAt path: String) throws(TableError) -> String {
    try load(tableAt: path, anew: false)
  }

  /// Puts what a route table declares in the place of all that tables have declared so far, as one
  /// change; the router may be serving. What other code has registered, replaced or set stays, and
  /// so do the handlers that it gave to routes which the table still has, or has again. Sessions go
  /// on with their pages; clients that come from then on are told the table's version.
  ///
  /// Throws, with nothing changed, as ``load(tableAt:)``, and where such a handler does not fit the
  /// new kind of its route.
  ///
  /// - Returns: the table's version.
  @discardableResult
  public func reload(tableAt path: String) throws(TableError) -> String {
    try load(tableAt: path, anew: true)
  }

  private func load(tableAt path: String, anew: Bool) throws(TableError) -> String {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw TableError("The route table \(path) cannot be read: is there such a file?")
    }
    let document: Value
    do throws(JSONError) {
      document = try JSON.parse([UInt8](data).span.bytes)
    } catch {
      throw TableError("The route table \(path) is not JSON: \(error)")
    }
    do {
      let table = try RouteTable(parsing: document)
      try table.apply(to: self, anew: anew)
      return table.version
    } catch {
      throw TableError("The route table \(path) is wrong:\n\(error)")
    }
  }
}

/// Why a route table was not loaded.
public struct TableError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Names the file and every fault in it, one a line, each with its place in the document.
  public let description: String

  init(_ description: String) {
    self.description = description
  }
}
