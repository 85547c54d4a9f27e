import FoundationEssentials
import WayRPC
import WayTable

extension Router {
  /// Registers the routes of a route table, a JSON document (`protocol/schema/table.schema.json`),
  /// and sets its rules of schemes. Each route is left to hosts until ``handle(_:with:)`` gives it
  /// a handler. Intended for an app's start, since it reads the file synchronously.
  ///
  /// Throws, with no route registered, if the router already has a table, or the file cannot be
  /// read or is invalid.
  ///
  /// - Returns: the table, for ``SessionConfiguration/table``, and to change it while the router
  ///   serves.
  @discardableResult
  public func load(tableAt path: String) throws(TableError) -> LiveTable {
    try load(table: try TableDocument.read(path), from: TableDocument.name(path), file: path)
  }

  /// Loads a document that was already read, as ``load(tableAt:)`` does; `name` begins the sentence
  /// of an error.
  package func load(
    table document: Value, from name: String, file: String? = nil
  ) throws(TableError) -> LiveTable {
    guard snapshot().table == nil else {
      throw TableError(
        .invalid,
        "\(name) is not loaded, because the router has a table; change it with its LiveTable")
    }
    let table: RouteTable
    do { table = try RouteTable(parsing: document) } catch { throw TableError(name, error) }
    do { return try LiveTable(table, for: self, file: file) } catch {
      throw TableError(.invalid, "\(name) is wrong:\n\(error)")
    }
  }
}

extension LiveTable {
  /// Replaces the table, as ``replace(with:expecting:)`` does, with the document in a
  /// file. Reading blocks a thread, but not one of an event loop. Throws ``TableError``, with
  /// nothing changed, also if the file cannot be read.
  @discardableResult
  public nonisolated func replace(
    withTableAt path: String, expecting expected: String? = nil
  ) async throws(TableError) -> Change {
    let document: Value
    do throws(TableError) { document = try TableDocument.read(path) } catch {
      await reject(error, .code)
      throw error
    }
    return try await replace(with: document, expecting: expected)
  }
}

/// Reads and parses route tables.
package enum TableDocument {
  /// The largest size of a document in bytes.
  package static let maxSize = 16 << 20

  /// The name of a document from a file, for the beginning of a sentence.
  package static func name(_ path: String) -> String { "The route table \(path)" }

  /// Reads and parses the document in a file. Blocks. Throws ``TableError``.
  package static func read(_ path: String) throws(TableError) -> Value {
    let bytes: [UInt8]
    do { bytes = try BoundedServerFile(path, limit: maxSize).read().bytes } catch {
      throw TableError(.unreadable, "\(name(path)) \(error.reason)")
    }
    return try parse(bytes, from: name(path))
  }

  /// Parses a document; `name` begins the sentence of an error.
  package static func parse(_ bytes: [UInt8], from name: String) throws(TableError) -> Value {
    guard bytes.count <= maxSize else {
      throw TableError(
        .unreadable, "\(name) has \(bytes.count) bytes; at most \(maxSize) are allowed")
    }
    // If the members of two routes were in one object, there would be one route less than its
    // author sees.
    do { return try JSON.parse(bytes.span.bytes, duplicateNames: .reject) } catch {
      throw TableError(.invalid, "\(name) is not JSON: \(error)")
    }
  }
}
