import ArgumentParser
import WayTable
import WayTableTools
import Waybridge

struct RoutesDiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Compare two route tables, and find breaking changes",
    discussion: """
      Example: waybridge routes diff released.json routes.json
      Example: waybridge routes diff released.json routes.json --breaking

      The command prints one line for each difference. A line that begins with "breaking" is a \
      change that makes a valid call fail or lead nowhere, or that returns a value which code \
      generated from OLD cannot read or has no name for.

      With --json the output is one object: {"from": {"version", "hash"}, "to": {"version", "hash"}, \
      "breaking": their number, "changes": [{"what", "name", "message", "breaking"}], "names": \
      {"added", "removed", "changed", "redirects", "topics", "other"}}.

      Exit code: 0 after the comparison; 1 if a table is invalid, or with --breaking if a change \
      breaks; 64 if the command line is wrong.
      """)

  @Argument(help: "Older route table, a JSON file", completion: .json)
  var old: String

  @Argument(help: "Newer route table, a JSON file", completion: .json)
  var new: String

  @Flag(help: "Print one JSON object")
  var json = false

  @Flag(help: "Print only breaking changes, and exit with 1 if there are any")
  var breaking = false

  func run() throws {
    let differences = TableDifferences(
      from: try RouteTable(file: old), to: try RouteTable(file: new))
    let shown = breaking ? differences.breaking : differences.all
    var output = Output()
    if json {
      try output.appendLine(differences.value.text)
    } else {
      for difference in shown {
        try output.appendLine(
          (difference.isBreaking ? "breaking  " : "          ") + difference.summary)
      }
      let count = differences.breaking.count
      try output.appendLine("\(differences.all.count) differences, \(count) breaking")
    }
    try output.flush()
    if breaking, !differences.breaking.isEmpty { throw ExitCode.failure }
  }
}
