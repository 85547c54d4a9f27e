import WayTable
import Waybridge

extension RouteTable {
  /// Reads a table from a file. Throws an error with the file's name if it cannot be read, or every
  /// error in it, with lines and columns.
  init(file path: String) throws(CommandError) {
    self = try CommandJSONLocations.locating(inFile: path) { () throws -> RouteTable in
      let document = try TableDocument.read(path)
      do throws(DocumentFaults) {
        return try RouteTable(parsing: document)
      } catch {
        throw TableError(TableDocument.name(path), error)
      }
    }
  }
}
