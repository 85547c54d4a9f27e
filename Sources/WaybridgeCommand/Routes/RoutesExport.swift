import ArgumentParser
import WayTable
import WayTableTools
import Waybridge

extension TableExport.Format: ExpressibleByArgument {}

struct RoutesExport: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write a route table as JSON, property list, Markdown or HTML.",
    discussion: """
      json is the table itself, its members in one order and without what goes without saying; \
      plist the same as a property list, in which null is the text "$null"; markdown a page for \
      people; html a page for people that needs nothing else and has a search: what a route opens, \
      its parameters, its result, who serves it.

      The same table gives the same bytes.

      Exit code: 0 when it is written; 1 where the table is wrong or the file cannot be written; 64 \
      where the command line is wrong.

      Example: waybridge routes export routes.json --format html --demo http://localhost:8080/ \
      --output routes.html
      """)

  @Argument(help: "The route table, a JSON document.", completion: .json)
  var file: String

  @Option(help: ArgumentHelp("json, plist, markdown or html.", valueName: "name"))
  var format: TableExport.Format

  @Option(
    help: ArgumentHelp(
      "Of html: the address of a running demo, which each route is linked to.", valueName: "url"),
    completion: .nothing)
  var demo: String?

  @Option(
    help: ArgumentHelp("Where it is written; standard output otherwise.", valueName: "file"),
    completion: .file())
  var output: String?

  func validate() throws {
    guard let demo else { return }
    guard format == .html else { throw ValidationError("--demo goes with --format html.") }
    guard let uri = try? RouteURI(demo), ["http", "https"].contains(uri.scheme) else {
      throw ValidationError(
        "--demo is the address of a demo, http://localhost:8080/, not \(quoted(demo)).")
    }
  }

  func run() throws {
    let text = TableExport(try RouteTable(file: file), demo: demo).text(as: format)
    if let output { return try OutputFile(output).write(text) }
    var output = Output()
    try output.line(text.hasSuffix("\n") ? String(text.dropLast()) : text)
    try output.flush()
  }
}
