import ArgumentParser
import Waybridge
import WaybridgeClient

struct ExplainCommand: ConfigurableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Show to which routes URIs resolve and why, without opening them",
    discussion: """
      Example: waybridge explain --table routes.json native://address/list
      Example: waybridge explain --url ws://127.0.0.1:8080/bridge native://address/list

      The command resolves URIs with the route table of --table; every route then counts as hosted. \
      Otherwise it asks the server at --url, which also knows the routes written in Swift and the \
      hosts of the session.

      --as describes the caller: {"origin"?, "token"?: {"sub"?, "groups"?}, "client"?: {"name"?, \
      "version"?}, "session"?}. Without it the caller is unknown, and the output marks routes and \
      redirects that are only for some callers as "released". With --policy a URI that the policy denies cannot be \
      opened, and the output names the rule. A server answers for the client that asks it.

      With --json each URI is one line: {"uri", "canOpen", "kind", "route", "params", "sources", \
      "candidates", "redirects", "releases", "interceptors", "fallback", "reason"}. "route" is \
      {"name", "pattern", "scheme"} or null. "candidates" has the routes in the order in which they \
      are tried: {"route", "pattern", "chosen", "reason"}. With a policy there is "policy", the rule \
      that denies the URI or null. A server adds "policy" and "host".

      \(CommandSettingHelp.environment)

      \(CommandSettingHelp.files)

      Exit code: 0 if every URI was explained, also if a URI is invalid or has no route; 1 if the \
      table, the policy, the server, the input or the output fails; 64 if the command line is wrong.
      """)

  @OptionGroup var local: CommandSettingFlags<ExplainSettings>

  @Option(
    name: .customLong("as"),
    help: ArgumentHelp("Caller to explain the URIs for, a JSON object", valueName: "json"),
    completion: .nothing)
  var subject: String?

  @OptionGroup(title: "Server options") var server: CommandSettingFlags<ServerSettings>

  @Flag(help: "Print one JSON object a line")
  var json = false

  @OptionGroup var config: ConfigurationFile

  @Argument(
    help: ArgumentHelp(
      "URIs; - reads them from standard input, one a line (at most 65,536 bytes)", valueName: "uri"
    ),
    completion: .nothing)
  var uris: [String] = []

  var flags: [CommandSettingFlag] { local.all + server.all }

  mutating func validate() throws {
    try checkFlags()
    if local["table"] != nil, server["url"] != nil {
      throw ValidationError("--table and --url exclude each other; give one of them")
    }
    if server["url"] != nil { try rejectLocalOptions() }
    _ = try subject.map(Self.parseSubject)
    _ = try ArgumentReader(uris)
  }

  /// Rejects the options that do not apply to a server, which has its own policy and identifies its
  /// caller.
  private func rejectLocalOptions() throws(ValidationError) {
    guard local["policy"] == nil, subject == nil else {
      throw ValidationError(
        "--policy and --as require --table; a server has its own policy and identifies its caller")
    }
  }

  func run() async throws {
    let settings = try settings()
    // A flag for one overrides a variable for the other.
    if server["url"] == nil, let table = settings.table {
      let router = Router()
      try CommandJSONLocations.locating(inFile: table) { try router.load(tableAt: table) }
      let explain = try explainer(router, settings)
      try await printExplanations { uris in uris.map { .object(explain($0)) } }
    } else {
      try rejectLocalOptions()
      try await settings.withClient(opensSession: false) { client in
        try await printExplanations(client.explanations)
      }
    }
  }

  /// Returns a function that explains a URI with a router, and with a policy if there is one.
  private func explainer(
    _ router: Router, _ settings: CommandSettings
  ) throws -> (String) -> ValueObject {
    let known = try subject.map(Self.parseSubject)
    guard let policy = settings.bridge.sessions.policyFile else {
      return { router.explain($0, for: known?.caller).members }
    }
    let document = try CommandJSONLocations.locating(inFile: policy) { try Policy(file: policy) }
    let simulator = try PolicySimulator(document, router)
    let policySubject = known ?? PolicySubject()
    return { uri in
      var members = router.explain(uri, for: known?.caller).members
      let denial = simulator.denial(to: policySubject, ofOpening: uri)
      members["policy"] = denial?.data?["rule"] ?? .null
      if let denial {
        members["canOpen"] = false
        members["reason"] = .string(denial.message)
      }
      return members
    }
  }

  private static func parseSubject(_ text: String) throws(ValidationError) -> PolicySubject {
    do {
      return try PolicySubject(parsing: try Value(json: text))
    } catch let error as InvalidJSON {
      throw ValidationError(CommandJSONLocations(text).added(to: "--as is not JSON: \(error)"))
    } catch {
      throw ValidationError(CommandJSONLocations(text).added(to: "--as is invalid:\n\(error)"))
    }
  }

  private func printExplanations(_ explain: ([String]) async throws -> [Value]) async throws {
    var reader = try ArgumentReader(uris)
    var output = Output()
    var isFirst = true
    while let next = try reader.next() {
      for explanation in try await explain(next) {
        if json {
          try output.appendLine(explanation.text)
        } else {
          try output.appendLine((isFirst ? "" : "\n") + RouteExplanation.text(of: explanation))
          isFirst = false
        }
      }
      try output.flush()
    }
  }
}

/// The settings of `explain` that it shares with `serve`.
enum ExplainSettings: CommandSettingGroup {
  static let settings = ["table", "policy"].compactMap(CommandSetting.named)
}
