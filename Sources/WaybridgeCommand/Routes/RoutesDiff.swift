import ArgumentParser
import WayTable
import WayTableTools
import Waybridge

struct RoutesDiff: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Tell in what two route tables differ, and what of it breaks.",
    discussion: """
      One line for each difference. A line that begins with "breaking" is one by which a call that \
      was taken is refused or leads nowhere, or by which a value comes that code which was generated \
      from OLD cannot read, or has a name for.

      With --json it is one object: {"from": {"version", "hash"}, "to": {"version", "hash"}, \
      "breaking": how many, "changes": [{"what", "name", "message", "breaking"}], "names": {"added", \
      "removed", "changed", "redirects", "topics", "other"}}.

      Exit code: 0 after the comparison; 1 where a table is wrong, and with --breaking where \
      something breaks; 64 where the command line is wrong.

      Example: waybridge routes diff released.json routes.json --breaking
      """)

  @Argument(help: "The older route table, a JSON document.", completion: .json)
  var old: String

  @Argument(help: "The newer route table, a JSON document.", completion: .json)
  var new: String

  @Flag(help: "Print one JSON object.")
  var json = false

  @Flag(help: "Tell only what breaks, and end with 1 where something does.")
  var breaking = false

  func run() throws {
    let differences = TableDifferences(
      from: try RouteTable(file: old), to: try RouteTable(file: new))
    let told = breaking ? differences.breaking : differences.all
    var output = Output()
    if json {
      try output.line(differences.value.text)
    } else {
      for difference in told {
        try output.line((difference.isBreaking ? "breaking  " : "          ") + difference.words)
      }
      let count = differences.breaking.count
      try output.line("\(differences.all.count) differences, \(count) breaking")
    }
    try output.flush()
    if breaking, !differences.breaking.isEmpty { throw ExitCode.failure }
  }
}
