import ArgumentParser
import WayTable
import WayTableTools
import Waybridge

extension TableExport.ExportFormat: ExpressibleByArgument {}

struct RoutesExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write a route table as JSON, property list, Markdown or HTML",
    discussion: """
      Example: waybridge routes export routes.json --format markdown
      Example: waybridge routes export routes.json --format html --output routes.html

      The formats are:
      - json: the table itself, with ordered members and without default values
      - plist: the same as a property list, in which null is the string "$null"
      - markdown: a page to read
      - html: a self-contained page with a search: the URIs, parameters, result and host of each \
      route

      The same table always gives the same bytes.

      Exit code: 0 if the output was written; 1 if the table is invalid or the file cannot be \
      written; 64 if the command line is wrong.
      """)

  @Argument(help: "Route table, a JSON file", completion: .json)
  var file: String

  @Option(help: ArgumentHelp("Format: json, plist, markdown or html", valueName: "name"))
  var format: TableExport.ExportFormat

  @Option(
    help: ArgumentHelp(
      "For html: URL of a running demo, to which each route links", valueName: "url"),
    completion: .nothing)
  var demo: String?

  @Option(
    help: ArgumentHelp("File to write; without it, standard output", valueName: "file"),
    completion: .file())
  var output: String?

  func validate() throws {
    guard let demo else { return }
    guard format == .html else { throw ValidationError("--demo requires --format html") }
    guard let uri = try? RouteURI(demo), ["http", "https"].contains(uri.scheme) else {
      throw ValidationError(
        "--demo must be the URL of a demo, such as http://localhost:8080/, not \(quoted(demo))")
    }
  }

  func run() throws {
    let text = TableExport(try RouteTable(file: file), demo: demo).text(as: format)
    if let output { return try OutputFile(output).write(text) }
    var output = Output()
    try output.appendLine(text.hasSuffix("\n") ? String(text.dropLast()) : text)
    try output.flush()
  }
}
