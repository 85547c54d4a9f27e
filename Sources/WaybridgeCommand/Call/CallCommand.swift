import ArgumentParser
import UnixSignals
import Waybridge
import WaybridgeClient

struct CallCommand: ConfigurableCommand {
  static let configuration = CommandConfiguration(
    commandName: "call",
    abstract: "Call one method of a server, print the result, and watch events",
    discussion: """
      Example: waybridge call router.invoke '{"uri": "action://time"}'
      Example: waybridge call router.open '{"uri": "native://address/list"}' --watch 'page.*'

      The command prints the result as one line of JSON on standard output. Errors, and "progress" \
      with its value, go to standard error. The call is plain JSON-RPC in a session of its own, which \
      ends with the call. With --token-file, --watch or --session, the command first sends \
      session.open.

      With --watch the command subscribes to the topics before it calls METHOD, if one is given. It \
      prints each event as a line {"topic", "data", "at"}, and the result as a line {"result"}, until \
      SIGINT or SIGTERM. It does not reconnect after a lost connection.

      \(CommandSettingHelp.environment)

      \(CommandSettingHelp.files)

      Exit code: 0 after a result, or after SIGINT or SIGTERM with --watch; 1 if the call fails or \
      the connection ends; 64 if the command line is wrong.
      """)

  @Argument(
    help: "Method, for example router.canOpen or rpc.discover; optional with --watch",
    completion: .method)
  var method: String?

  @Argument(help: "Params, a JSON object or array", completion: .nothing)
  var params: String?

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp(
      "Topics of events to print; * at the end of a topic matches any rest", valueName: "topic"),
    completion: .topic)
  var watch: [String] = []

  @OptionGroup(title: "Server options") var server: CommandSettingFlags<ServerSettings>

  @OptionGroup(title: "Session options") var session: CommandSettingFlags<SessionSettings>

  @OptionGroup var config: ConfigurationFile

  var flags: [CommandSettingFlag] { server.all + session.all }

  mutating func validate() throws {
    try checkFlags()
    if method == nil, watch.isEmpty {
      throw ValidationError("METHOD is missing; give a method to call, or topics with --watch")
    }
  }

  func run() async throws {
    let settings = try settings()
    let params = try params.map(Self.parse)
    // Before anything is awaited, or a signal would end the command too early.
    let signals = watch.isEmpty ? nil : await UnixSignalsSequence(trapping: .sigint, .sigterm)
    try await settings.withClient(opensSession: !watch.isEmpty) { client in
      if let signals {
        try await EventPrinter(client: client, printer: LinePrinter())
          .run(topics: watch, until: signals, calling: method, params)
      } else if let method {
        try await LinePrinter().printLine(client.result(of: method, params).text)
      }
    }
  }

  private static func parse(_ text: String) throws(CommandError) -> Value {
    let value: Value
    do throws(InvalidJSON) {
      value = try Value(json: text)
    } catch {
      throw CommandError(CommandJSONLocations(text).added(to: "PARAMS is not JSON: \(error)"))
    }
    guard value.object != nil || value.array != nil else {
      throw CommandError("PARAMS must be a JSON object or array, not \(value.kindWithArticle)")
    }
    return value
  }
}
