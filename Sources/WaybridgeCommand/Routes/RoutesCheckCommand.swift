import ArgumentParser
import WayTable
import Waybridge
import WaybridgeClient

struct RoutesCheckCommand: ConfigurableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "List all errors of a route table, or what a running server lacks",
    discussion: """
      Example: waybridge routes check routes.json
      Example: waybridge routes check --url ws://127.0.0.1:8080/bridge

      With FILE the command prints "ok: N routes, …" with the table's version and hash, or every \
      error on standard error, one a line, with its place in the document and the solution. Lines \
      that begin with "warning:" report what is valid but probably a mistake: routes that no URI \
      reaches, or that no code can be generated for, and undefined targets of schemes that are not \
      closed.

      With --url the command compares the table of a server with what the server hosts. It lists \
      routes without a host, routes of the app's code that the table lacks, handlers without a \
      route, and hosts that match no route. It warns if the undefined target of a scheme, or the \
      undefined-route handler, is not reached because a client hosts the whole scheme. The server's \
      policy must allow table.check.

      With --json the output is one line: {"ok", "version", "hash", "routes", "faults", "warnings"}; \
      faults and warnings are {"path", "message"}. With --url it is the result of table.check, and \
      "ok".

      \(CommandSettingHelp.environment)

      \(CommandSettingHelp.files)

      Exit code: 0 if nothing is wrong; 1 if there are errors, with --strict also for warnings, or \
      the table cannot be read; 64 if the command line is wrong.
      """)

  @Argument(help: "Route table, a JSON file", completion: .json)
  var file: String?

  @OptionGroup(title: "Server options") var server: CommandSettingFlags<ServerSettings>

  @Flag(help: "Exit with 1 also for warnings")
  var strict = false

  @Flag(help: "Print one JSON object")
  var json = false

  @OptionGroup var config: ConfigurationFile

  var flags: [CommandSettingFlag] { server.all }

  mutating func validate() throws {
    try checkFlags()
    guard (file == nil) != (server["url"] == nil) else {
      throw ValidationError("give either FILE or --url")
    }
  }

  func run() async throws {
    let isValid: Bool
    if let file {
      isValid = try checkFile(file)
    } else {
      var result = Value.null
      try await settings().withClient(opensSession: true) { client in
        result = try await client.request("table.check")
      }
      isValid = try report(result)
    }
    if !isValid { throw ExitCode.failure }
  }

  private func checkFile(_ file: String) throws -> Bool {
    let document = try CommandJSONLocations.locating(inFile: file) { try TableDocument.read(file) }
    let table: RouteTable
    do throws(DocumentFaults) {
      table = try RouteTable(parsing: document)
      try table.checkDispatchers()
    } catch {
      if json {
        try print(["ok": false, "faults": Self.faultList(error.faults), "warnings": []])
        return false
      }
      let message = "\(TableError(TableDocument.name(file), error))"
      throw CommandError(CommandJSONLocations(inFile: file).added(to: message))
    }
    let warnings = table.warnings
    let isValid = warnings.isEmpty || !strict
    if json {
      try print([
        "ok": .bool(isValid), "version": .string(table.version),
        "hash": .string(table.stamp.hash),
        "routes": .integer(Int64(table.declarations.routes.count)), "faults": [],
        "warnings": Self.faultList(warnings),
      ])
      return isValid
    }
    for warning in warnings { Output.printError("warning: \(warning)") }
    let declared = table.declarations
    let counts = [
      counted(declared.routes.count, "route"), counted(declared.redirects.count, "redirect"),
      counted(table.topics.count, "topic"), counted(table.types.count, "type"),
    ]
    var output = Output()
    try output.appendLine(
      "ok: \(counts.joined(separator: ", ")); version \(table.version), hash \(table.stamp.hash)")
    try output.flush()
    return isValid
  }

  private static func faultList(_ faults: [DocumentFault]) -> Value {
    .array(faults.map { ["path": .string($0.path), "message": .string($0.message)] })
  }

  private func print(_ value: Value) throws {
    var output = Output()
    try output.appendLine(value.text)
    try output.flush()
  }

  /// Prints the result of `table.check`; returns false if the server found anything.
  private func report(_ result: Value) throws -> Bool {
    let kinds = [
      ("unserved", "has no host now"),
      ("undeclared", "is registered by the app's code, but missing in the table"),
      ("handlers", "has a handler in the app's code, but is no longer in the table"),
      ("hosts", "is hosted by a client, but matches no route"),
    ]
    let hiddenSchemes = result["undefined"]?.array ?? []
    let isValid =
      kinds.allSatisfy { result[$0.0]?.array?.isEmpty ?? true }
      && (hiddenSchemes.isEmpty || !strict)
    if json {
      var object = result.object ?? [:]
      object["ok"] = .bool(isValid)
      try print(.object(object))
      return isValid
    }
    for scheme in hiddenSchemes {
      Output.printError(
        "warning: undefined: the undefined target or handler of the scheme"
          + " \(quoted(scheme.string ?? "")) is not reached while a client hosts the whole scheme,"
          + " unless the client declines; declare the scheme as closed")
    }
    var output = Output()
    for (kind, description) in kinds {
      for entry in result[kind]?.array ?? [] {
        try output.appendLine("\(kind): \(entry.string ?? entry.text) \(description)")
      }
    }
    if isValid {
      try output.appendLine(
        "ok: every route of the table \(quoted(result["version"]?.string ?? "")) has a host")
    }
    try output.flush()
    return isValid
  }
}
