import ArgumentParser
import Waybridge

struct Serve: Configured {
  static let configuration = CommandConfiguration(
    abstract: "Serve a bridge at ws://HOST:PORT/bridge.",
    discussion: """
      Serves the routes of a table; clients that join a session host them. The first line on \
      standard output is "listening on http://HOST:PORT". Who comes in may call everything, or what \
      the rules of a policy allow.

      \(SettingHelp.sources)

      Settings without a flag:
      \(SettingHelp.withoutFlag)

      Exit code: 0 after SIGTERM or SIGINT, which close every connection; 1 where it cannot serve; \
      64 where the command line is wrong.

      Example: WAYBRIDGE_LIMITS_MAX_BATCH=20 waybridge serve --table routes.json --port 0
      """)

  @Option(help: .setting("table", valueName: "file"), completion: .json)
  var table: String?

  @Option(help: .setting("policy", valueName: "file"), completion: .json)
  var policy: String?

  @Option(help: .setting("host"), completion: .list(["127.0.0.1", "localhost", "::1"]))
  var host: String?

  @Option(help: .setting("port"), completion: .nothing)
  var port: String?

  @Option(help: .setting("web", valueName: "dir"), completion: .directory)
  var web: String?

  @Flag(help: .setting("noClient"))
  var noClient = false

  @Flag(help: .setting("conformance"))
  var conformance = false

  @OptionGroup var log: LogOptions
  @OptionGroup var config: ConfigurationFile

  var flags: KeyValuePairs<String, String?> {
    [
      "table": table, "policy": policy, "host": host, "port": port, "web": web,
      "noClient": noClient ? "true" : nil, "conformance": conformance ? "true" : nil,
      "log.level": log.logLevel, "log.format": log.logFormat,
    ]
  }

  func run() async throws {
    let settings = try settings()
    let router = Router()
    var configuration = try Self.configuration(settings)
    if let policy = settings.policy { configuration.policy = try Policy(file: policy) }
    if let table = settings.table { configuration.tableVersion = try router.load(tableAt: table) }
    try await Listening.serve(router, configuration)
  }

  /// What the settings say, but for what stands in documents of its own.
  private static func configuration(
    _ settings: Configuration
  ) throws(CommandError) -> BridgeConfiguration {
    var configuration = BridgeConfiguration(
      host: settings.host, port: settings.port, servesClient: !settings.isWithoutClient,
      limits: settings.limits,
      conformance: settings.isConformance, logger: settings.logger)
    if let web = settings.web {
      configuration.webRoot = try WebFiles.folder(web)
    } else if let web = WebFiles.find() {
      configuration.webRoot = web
      configuration.webEntries = WebFiles.entries.filter {
        $0 != "bridge" || configuration.servesClient
      }
    }
    return configuration
  }
}
