import ArgumentParser
import WayTable
import Waybridge

struct RoutesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "routes",
    abstract: "Check, export and compare route tables, and generate typed calls",
    discussion: """
      Example: waybridge routes check routes.json
      Example: waybridge routes generate routes.json --language typescript --output web

      A route table is a JSON document with all routes of an app. protocol/schema/table.schema.json \
      describes it.

      Exit code: 0 if nothing is wrong; 1 if something is wrong; 64 if the command line is wrong.
      """,
    subcommands: [
      RoutesCheckCommand.self, RoutesGenerateCommand.self, RoutesExportCommand.self,
      RoutesDiffCommand.self,
    ])
}

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
