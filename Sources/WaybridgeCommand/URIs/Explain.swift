import ArgumentParser
import Waybridge
import WaybridgeClient

struct Explain: ConfigurableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show where URIs lead and why, without opening anything.",
    discussion: """
      Asks the route table that --table names, or else the bridge at --url, where routes written \
      in Swift and the session's hosts count too. In a table every route counts as served by a \
      host.

      The answer is for whom --as describes, {"origin"?, "token"?: {"sub"?, "groups"?}, "client"?: \
      {"name"?, "version"?}, "session"?}, else for nobody in particular: routes and redirects that are \
      for some only are told as "released". With --policy what that refuses cannot be opened, and the \
      rule is told. A bridge answers for who asks it.

      With --json each answer is one line: {"uri", "canOpen", "kind", "route", "params", \
      "sources", "candidates", "redirects", "releases", "interceptors", "fallback", "reason"}; "route" is \
      {"name", "pattern", "scheme"} or null, and each of the "candidates", in the order in which \
      they are tried, {"route", "pattern", "chosen", "reason"}. A policy adds "policy", the rule that refuses or \
      null; a bridge adds that and "host".

      \(SettingHelp.sources)

      Exit code: 0 after an answer to every URI, also where it is that the URI leads nowhere or is \
      none; 1 where the table, the policy, the bridge, input or output fail; 64 where the command \
      line is wrong.

      Example: waybridge explain --table routes.json native://address/list
      """)

  @Option(help: .setting("table", valueName: "file"), completion: .json)
  var table: String?

  @Option(help: .setting("policy", valueName: "file"), completion: .json)
  var policy: String?

  @Option(
    name: .customLong("as"),
    help: ArgumentHelp("For whom the answer is, a JSON object.", valueName: "json"),
    completion: .nothing)
  var asker: String?

  @OptionGroup var server: ServerFlags

  @Flag(help: "Print one JSON object a line.")
  var json = false

  @OptionGroup var config: ConfigurationFile

  @Argument(
    help: ArgumentHelp(
      "URIs; - reads them from standard input, one a line (at most 65,536 bytes).", valueName: "uri"
    ),
    completion: .nothing)
  var uris: [String] = []

  var flags: KeyValuePairs<String, String?> {
    ["table": table, "policy": policy, "url": server.url, "tokenFile": server.tokenFile]
  }

  mutating func validate() throws {
    try checkFlags()
    if table != nil, server.url != nil {
      throw ValidationError("Give --table or --url, not both.")
    }
    if server.url != nil { try leaveToBridge() }
    _ = try asker.map(Self.asker)
    _ = try ArgumentReader(uris)
  }

  /// A bridge has a policy of its own, and sees who asks.
  private func leaveToBridge() throws(ValidationError) {
    guard policy == nil, asker == nil else {
      throw ValidationError(
        "A bridge answers for who asks it: give --policy and --as with --table, not with --url.")
    }
  }

  func run() async throws {
    let settings = try settings()
    // A flag for the one overrules a variable for the other.
    if server.url == nil, let table = settings.table {
      let router = Router()
      try router.load(tableAt: table)
      let explain = try explaining(router, settings)
      try await answer { uris in uris.map { .object(explain($0)) } }
    } else {
      try leaveToBridge()
      try await settings.withClient(opensSession: false) { client in
        try await answer(client.explanations)
      }
    }
  }

  /// What a router says of a URI, and a policy where there is one.
  private func explaining(
    _ router: Router, _ settings: Configuration
  ) throws -> (String) -> ValueObject {
    let known = try asker.map(Self.asker)
    guard let policy = settings.policy else {
      return { router.explain($0, for: known?.caller).members }
    }
    let trial = try PolicyTrial(Policy(file: policy), router)
    let asker = known ?? PolicyAsker()
    return { uri in
      var members = router.explain(uri, for: known?.caller).members
      let refusal = trial.refusal(to: asker, ofOpening: uri)
      members["policy"] = refusal?.data?["rule"] ?? .null
      if let refusal {
        members["canOpen"] = false
        members["reason"] = .string(refusal.message)
      }
      return members
    }
  }

  private static func asker(_ text: String) throws(ValidationError) -> PolicyAsker {
    do {
      return try PolicyAsker(parsing: try Value(json: text))
    } catch let error as InvalidJSON {
      throw ValidationError("--as is not JSON: \(error)")
    } catch {
      throw ValidationError("--as is wrong:\n\(error)")
    }
  }

  private func answer(_ explain: ([String]) async throws -> [Value]) async throws {
    var texts = try ArgumentReader(uris)
    var output = Output()
    var isFirst = true
    while let next = try texts.next() {
      for explanation in try await explain(next) {
        if json {
          try output.line(explanation.text)
        } else {
          try output.line((isFirst ? "" : "\n") + Explanation.text(of: explanation))
          isFirst = false
        }
      }
      try output.flush()
    }
  }
}
