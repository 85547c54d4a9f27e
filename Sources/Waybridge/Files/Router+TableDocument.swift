import FoundationEssentials
import WayRPC
import WayTable

extension Router {
  /// Registers the routes of a route table, a JSON document (`protocol/schema/table.schema.json`),
  /// and sets its rules of schemes. Each route is left to hosts until ``handle(_:with:)`` gives it
  /// a handler. Meant for an app's start, since the file is read at once.
  ///
  /// Throws, with no route registered, when the router has a table already, the file cannot be read
  /// or anything in it is wrong.
  ///
  /// - Returns: the table, for ``BridgeConfiguration/table``, and to change it while the router
  ///   serves.
  @discardableResult
  public func load(tableAt path: String) throws(TableError) -> LiveTable {
    try load(table: try TableDocument.read(path), from: TableDocument.name(path), file: path)
  }

  /// As ``load(tableAt:)``, for a document that somebody else has read; `name` begins the sentence
  /// of an error.
  package func load(
    table document: Value, from name: String, file: String? = nil
  ) throws(TableError) -> LiveTable {
    guard snapshot().table == nil else {
      throw TableError(
        .wrong, "\(name) is not loaded: the router has a table; change that one by its LiveTable")
    }
    let table: RouteTable
    do { table = try RouteTable(parsing: document) } catch { throw TableError(name, error) }
    do { return try LiveTable(table, for: self, file: file) } catch {
      throw TableError(.wrong, "\(name) is wrong:\n\(error)")
    }
  }
}

extension LiveTable {
  /// As ``replace(with:expecting:)``, with what a file holds; reading it blocks a thread, none of a
  /// loop. Throws ``TableError``, with nothing changed, also where the file cannot be read.
  @discardableResult
  public nonisolated func replace(
    withTableAt path: String, expecting expected: String? = nil
  ) async throws(TableError) -> Change {
    let document: Value
    do throws(TableError) { document = try TableDocument.read(path) } catch {
      await refuse(error, .code)
      throw error
    }
    return try await replace(with: document, expecting: expected)
  }
}

/// The bytes of a route table.
package enum TableDocument {
  /// The most bytes that a document may have.
  package static let maxSize = 16 << 20

  /// What a document is called that was read from a file, at the beginning of a sentence.
  package static func name(_ path: String) -> String { "The route table \(path)" }

  /// The document that a file holds. Blocks. Throws ``TableError``.
  package static func read(_ path: String) throws(TableError) -> Value {
    let bytes: [UInt8]
    do { bytes = try BoundedFile(path, limit: maxSize).read().bytes } catch {
      throw TableError(.unreadable, "\(name(path)) \(error.reason)")
    }
    return try parse(bytes, from: name(path))
  }

  /// The document that bytes hold; `name` begins the sentence of an error.
  package static func parse(_ bytes: [UInt8], from name: String) throws(TableError) -> Value {
    guard bytes.count <= maxSize else {
      throw TableError(
        .unreadable, "\(name) has \(bytes.count) bytes, more than \(maxSize); split or shorten it")
    }
    // Two routes' worth of members in one object would be one route less than its author sees.
    do { return try JSON.parse(bytes.span.bytes, names: .differ) } catch {
      throw TableError(.wrong, "\(name) is not JSON, or not clear: \(error)")
    }
  }
}
