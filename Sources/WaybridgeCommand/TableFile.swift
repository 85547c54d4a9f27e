import ArgumentParser
import WayTable
import Waybridge

extension RouteTable {
  /// Reads a table from a file. Throws, with the file's name, where it cannot be read, and every
  /// fault in it.
  init(file path: String) throws {
    let name = "The route table \(path)"
    let bytes: [UInt8]
    do { bytes = try BoundedFile(path, limit: TableDocument.maxSize).read().bytes } catch {
      throw CommandError("\(name) \(error.reason)")
    }
    let document: Value
    do { document = try TableDocument.parse(bytes, from: name) } catch {
      throw CommandError(error.description)
    }
    do { self = try RouteTable(parsing: document) } catch {
      throw CommandError("\(name) is wrong:\n\(error)")
    }
  }
}
