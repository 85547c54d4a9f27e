import ArgumentParser
import Waybridge
import WaybridgeClient

struct Explain: Configured {
  static let configuration = CommandConfiguration(
    abstract: "Show where URIs lead and why, without opening anything.",
    discussion: """
      Asks the route table that --table names, or else the bridge at --url, where routes written \
      in Swift and the session's hosts count too. In a table every route counts as served by a \
      host.

      With --json each answer is one line: {"uri", "canOpen", "kind", "route", "params", \
      "sources", "candidates", "redirects", "interceptors", "fallback", "reason"}; "route" is \
      {"name", "pattern", "scheme"} or null, and each of the "candidates", in the order in which \
      they are tried, {"route", "pattern", "chosen", "reason"}. A bridge adds "host".

      \(SettingHelp.sources)

      Exit code: 0 after an answer to every URI, also where it is that the URI leads nowhere or is \
      none; 1 where the table, the bridge, input or output fail; 64 where the command line is \
      wrong.

      Example: waybridge explain --table routes.json native://address/list
      """)

  @Option(help: .setting("table", valueName: "file"), completion: .json)
  var table: String?

  @Option(help: .setting("url"), completion: .nothing)
  var url: String?

  @Option(help: .setting("tokenFile", valueName: "file"), completion: .file())
  var tokenFile: String?

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
    ["table": table, "url": url, "tokenFile": tokenFile]
  }

  mutating func validate() throws {
    try checkFlags()
    if table != nil, url != nil {
      throw ValidationError("Give --table or --url, not both.")
    }
    _ = try Texts(uris)
  }

  func run() async throws {
    let settings = try settings()
    // A flag for the one overrules a variable for the other.
    if url == nil, let table = settings.table {
      let router = Router()
      try router.load(tableAt: table)
      try await answer { uris in uris.map { router.explain($0).value } }
    } else {
      try await settings.withClient(opensSession: false) { client in
        try await answer(client.explanations)
      }
    }
  }

  private func answer(_ explain: ([String]) async throws -> [Value]) async throws {
    var texts = try Texts(uris)
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
