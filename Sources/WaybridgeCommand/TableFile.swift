import WayTable
import Waybridge

extension RouteTable {
  /// Reads a table from a file. Throws, with the file's name, where it cannot be read, and every
  /// fault in it.
  init(file path: String) throws(TableError) {
    let document = try TableDocument.read(path)
    do { self = try RouteTable(parsing: document) } catch {
      throw TableError(TableDocument.name(path), error)
    }
  }
}
