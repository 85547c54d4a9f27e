import ArgumentParser

struct RoutesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "routes",
    abstract: "Check a route table, generate typed calls from it, export it, and compare two.",
    discussion: """
      A route table is one document for all ends of an app; protocol/schema/table.schema.json \
      describes it.

      Exit code: 0 where there is nothing wrong; 1 where there is; 64 where the command line is \
      wrong.

      Example: waybridge routes generate routes.json --language typescript --output web
      """,
    subcommands: [RoutesCheck.self, RoutesGenerate.self, RoutesExport.self, RoutesDiff.self])
}
