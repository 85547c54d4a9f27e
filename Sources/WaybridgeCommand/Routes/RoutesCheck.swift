import ArgumentParser
import WayTable
import Waybridge
import WaybridgeClient

struct RoutesCheck: ConfigurableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Tell every fault of a route table, or what a running bridge lacks of its own.",
    discussion: """
      With FILE: prints "ok: N routes, …" with the table's version and hash; or else every fault on \
      standard error, one a line, with its place in the document and what to do. What may be meant, \
      and mostly is not (routes that nothing leads to, or that no code can be generated for), is a \
      line that begins with "warning:".

      With --url: asks a bridge what is declared and nobody serves, and what is served and nobody \
      has declared: routes that wait for a host, routes of the app's code that the table does not \
      have, handlers whose route is gone, and hosts that no route means. Its policy has to allow \
      table.check.

      With --json one line: {"ok", "version", "hash", "routes", "faults", "warnings"}, faults and \
      warnings as {"path", "message"}; of a bridge what table.check answers, and "ok".

      \(SettingHelp.sources)

      Exit code: 0 where nothing is wrong; 1 where something is, or with --strict for warnings too, \
      or what is asked for cannot be read; 64 where the command line is wrong.

      Example: waybridge routes check routes.json
      """)

  @Argument(help: "The route table, a JSON document.", completion: .json)
  var file: String?

  @OptionGroup var server: ServerFlags

  @Flag(help: "Exit with 1 for warnings, too.")
  var strict = false

  @Flag(help: "Print one JSON object.")
  var json = false

  @OptionGroup var config: ConfigurationFile

  var flags: KeyValuePairs<String, String?> { ["url": server.url, "tokenFile": server.tokenFile] }

  mutating func validate() throws {
    try checkFlags()
    guard (file == nil) != (server.url == nil) else {
      throw ValidationError("Give a FILE or --url, and not both.")
    }
  }

  func run() async throws {
    let isWell: Bool
    if let file {
      isWell = try checkFile(file)
    } else {
      var found = Value.null
      try await settings().withClient(opensSession: true) { client in
        found = try await client.request("table.check")
      }
      isWell = try report(found)
    }
    if !isWell { throw ExitCode.failure }
  }

  private func checkFile(_ file: String) throws -> Bool {
    let document = try TableDocument.read(file)
    let table: RouteTable
    do throws(DocumentFaults) {
      table = try RouteTable(parsing: document)
      try table.checkFits()
    } catch {
      if json {
        try print(["ok": false, "faults": Self.told(error.faults), "warnings": []])
        return false
      }
      throw TableError(TableDocument.name(file), error)
    }
    let warnings = table.warnings
    let isWell = warnings.isEmpty || !strict
    if json {
      try print([
        "ok": .bool(isWell), "version": .string(table.version),
        "hash": .string(table.stamp.hash),
        "routes": .integer(Int64(table.declarations.routes.count)), "faults": [],
        "warnings": Self.told(warnings),
      ])
      return isWell
    }
    for warning in warnings { Output.tell("warning: \(warning)") }
    let declared = table.declarations
    let counts = [
      counted(declared.routes.count, "route"), counted(declared.redirects.count, "redirect"),
      counted(table.topics.count, "topic"), counted(table.types.count, "type"),
    ]
    var output = Output()
    try output.line(
      "ok: \(counts.joined(separator: ", ")); version \(table.version), hash \(table.stamp.hash)")
    try output.flush()
    return isWell
  }

  private static func told(_ faults: [DocumentFault]) -> Value {
    .list(faults.map { ["path": .string($0.path), "message": .string($0.message)] })
  }

  private func print(_ value: Value) throws {
    var output = Output()
    try output.line(value.text)
    try output.flush()
  }

  /// Tells what a bridge has found; false where there is something.
  private func report(_ found: Value) throws -> Bool {
    let kinds = [
      ("unserved", "waits for a host, and has none now"),
      ("undeclared", "is registered by the app's code, and not in the table"),
      ("handlers", "has a handler of the app's code, and is gone from the table"),
      ("hosts", "is hosted by a client, and no route means it"),
    ]
    let isWell = kinds.allSatisfy { found[$0.0]?.list?.isEmpty ?? true }
    if json {
      var members = found.object ?? [:]
      members["ok"] = .bool(isWell)
      try print(.object(members))
      return isWell
    }
    var output = Output()
    for (kind, words) in kinds {
      for entry in found[kind]?.list ?? [] {
        try output.line("\(kind): \(entry.string ?? entry.text) \(words)")
      }
    }
    if isWell {
      try output.line("ok: every route of the table \(found["version"]?.string ?? "") is served")
    }
    try output.flush()
    return isWell
  }
}
