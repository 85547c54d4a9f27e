import ArgumentParser
import UnixSignals
import Waybridge
import WaybridgeClient

struct CallCommand: ConfigurableCommand {
  static let configuration = CommandConfiguration(
    commandName: "call",
    abstract: "Call one method of a bridge, print its result, and watch events.",
    discussion: """
      The result is printed as one line of JSON; errors, and "progress" with its value, go to \
      standard error. The call is plain JSON-RPC, in a session of its own that ends with it; with \
      --token-file, --watch or --session, session.open comes first.

      With --watch the topics are subscribed to before METHOD, if any, is called. Each event is \
      printed as a line {"topic", "data", "at"}, METHOD's result as a line {"result"}, until \
      SIGINT or SIGTERM. A connection that is lost is not made again.

      \(SettingHelp.sources)

      Exit code: 0 after a result, or after SIGINT or SIGTERM with --watch; 1 where the call fails \
      or the connection ends; 64 where the command line is wrong.

      Example: waybridge call router.invoke '{"uri": "action://time"}'
      Example: waybridge call router.open '{"uri": "native://address/list"}' --watch 'page.*'
      """)

  @Argument(
    help: "The method, for example router.canOpen or rpc.discover; optional with --watch.",
    completion: .method)
  var method: String?

  @Argument(help: "The params: a JSON object or array.", completion: .nothing)
  var params: String?

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp(
      "Topics of events to print; * at the end of one stands for any rest.", valueName: "topic"),
    completion: .topic)
  var watch: [String] = []

  @OptionGroup var member: SessionFlags

  @OptionGroup var server: ServerFlags

  @OptionGroup var config: ConfigurationFile

  var flags: KeyValuePairs<String, String?> {
    [
      "url": server.url, "tokenFile": server.tokenFile, "session": member.session,
      "join": member.join,
    ]
  }

  mutating func validate() throws {
    try checkFlags()
    if method == nil, watch.isEmpty {
      throw ValidationError("Give a METHOD to call, or --watch TOPIC.")
    }
  }

  func run() async throws {
    let settings = try settings()
    let params = try params.map(Self.parse)
    // Before anything is awaited, or a signal would end the command too early.
    let signals = watch.isEmpty ? nil : await UnixSignalsSequence(trapping: .sigint, .sigterm)
    try await settings.withClient(opensSession: !watch.isEmpty) { client in
      if let signals {
        try await Watch(client: client, printer: LinePrinter())
          .run(topics: watch, until: signals, calling: method, params)
      } else if let method {
        try await LinePrinter().line(client.result(of: method, params).text)
      }
    }
  }

  private static func parse(_ text: String) throws(CommandError) -> Value {
    let value: Value
    do throws(InvalidJSON) {
      value = try Value(json: text)
    } catch {
      throw CommandError("PARAMS is not JSON: \(error)")
    }
    guard value.object != nil || value.list != nil else {
      throw CommandError("PARAMS must be a JSON object or array, not \(value.kindWithArticle)")
    }
    return value
  }
}
