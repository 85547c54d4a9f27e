import ArgumentParser

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
