import ArgumentParser
import ServiceLifecycle
import WayStore
import Waybridge
import WaybridgeCluster
import WaybridgeTables

struct Serve: ConfigurableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Serve a bridge at ws://HOST:PORT/bridge.",
    discussion: """
      Serves the routes of a table; clients that join a session host them. The first line on \
      standard output is "listening on http://HOST:PORT". Programs of this machine come in, and \
      pages that the server itself serves; whoever else shall, is named. Who comes in may call \
      everything, or what the rules of a policy allow.

      \(SettingHelp.sources)

      Settings without a flag:
      \(SettingHelp.withoutFlag)

      A service manager that speaks as systemd does is told when it listens and when it ends, may \
      hand over the socket to listen on, and may have it read its files with SIGHUP.

      Exit code: 0 after SIGTERM or SIGINT, which let calls end and close every connection; 1 where \
      it cannot serve, or a second of them ends it at once; 64 where the command line is wrong.

      Example: WAYBRIDGE_LIMITS_MAX_BATCH=20 waybridge serve --table routes.json --port 0
      """)

  @Option(help: .setting("table", valueName: "file"), completion: .json)
  var table: String?

  @Option(help: .setting("tableCache", valueName: "dir"), completion: .directory)
  var tableCache: String?

  @Option(help: .setting("tableInterval", valueName: "seconds"), completion: .nothing)
  var tableInterval: String?

  @Option(help: .setting("policy", valueName: "file"), completion: .json)
  var policy: String?

  @Option(help: .setting("host"), completion: .list(["127.0.0.1", "localhost", "::1"]))
  var host: String?

  @Option(help: .setting("port"), completion: .nothing)
  var port: String?

  @Option(help: .setting("unix", valueName: "path"), completion: .file())
  var unix: String?

  @Option(help: .setting("prefix", valueName: "path"), completion: .nothing)
  var prefix: String?

  @OptionGroup var doors: AccessOptions

  @Option(help: .setting("web", valueName: "dir"), completion: .directory)
  var web: String?

  @Option(
    help: .setting("contentSecurityPolicy", valueName: "policy"), completion: .nothing)
  var contentSecurityPolicy: String?

  @Flag(help: .setting("noClient"))
  var noClient = false

  @Flag(help: .setting("noInspector"))
  var noInspector = false

  @Option(help: .setting("data", valueName: "dir"), completion: .directory)
  var data: String?

  @Option(help: .setting("cluster", valueName: "url"), completion: .nothing)
  var cluster: String?

  @Option(help: .setting("clusterReplicas", valueName: "n"), completion: .nothing)
  var clusterReplicas: String?

  @Option(help: .setting("loops", valueName: "n"), completion: .nothing)
  var loops: String?

  @Option(help: .setting("drain", valueName: "seconds"), completion: .nothing)
  var drain: String?

  @Flag(help: .setting("conformance"))
  var conformance = false

  @Option(help: .setting("tokenSecretFile", valueName: "file"), completion: .file())
  var tokenSecretFile: String?

  @Option(help: .setting("tokenKeyFile", valueName: "file"), completion: .file())
  var tokenKeyFile: String?

  @Flag(help: .setting("allowAnonymous"))
  var allowAnonymous = false

  @OptionGroup var log: LogOptions
  @OptionGroup var config: ConfigurationFile

  var flags: KeyValuePairs<String, String?> {
    [
      "table": table, "tableCache": tableCache, "tableInterval": tableInterval, "policy": policy,
      "host": host, "port": port, "unix": unix,
      "prefix": prefix, "allowOrigin": AccessOptions.joined(doors.allowOrigin),
      "allowHost": AccessOptions.joined(doors.allowHost),
      "trustedProxy": AccessOptions.joined(doors.trustedProxy), "web": web,
      "contentSecurityPolicy": contentSecurityPolicy,
      "data": data, "cluster": cluster, "clusterReplicas": clusterReplicas, "loops": loops,
      "drain": drain,
      "noClient": noClient ? "true" : nil, "noInspector": noInspector ? "true" : nil,
      "conformance": conformance ? "true" : nil,
      "tokenSecretFile": tokenSecretFile, "tokenKeyFile": tokenKeyFile,
      "allowAnonymous": allowAnonymous ? "true" : nil,
      "log.level": log.logLevel, "log.format": log.logFormat,
    ]
  }

  func run() async throws {
    let settings = try settings()
    guard settings.data == nil || settings.cluster.isEmpty else {
      throw CommandError(
        "Sessions are kept in a folder (data) or by engines (cluster), not in both.")
    }
    let router = Router()
    var configuration = try Self.configuration(settings)
    configuration.serviceManager = try SystemdNotifier()
    // A wrong one is told here, and not as a fault of the server.
    if let policy = settings.policy { configuration.policy = try Policy(file: policy) }
    configuration.policyFile = settings.policy
    if let data = settings.data {
      configuration.store = try SQLiteSessionStore(folder: data)
      if settings.isConformance { try ConformanceEffectTask.register(in: router, folder: data) }
    } else if !settings.cluster.isEmpty {
      configuration.cluster = try Cluster(
        nats: settings.cluster, replicas: settings.clusterReplicas)
    }
    let fetcher = try await Self.loadTable(settings, into: router, &configuration)
    let keys = try await settings.tokenKeys()
    configuration.allowsAnonymous = settings.allowsAnonymous
    if let keys {
      let takesAnonymous = settings.allowsAnonymous
      configuration.identify = { handshake in
        if takesAnonymous, handshake.token == nil { return Identity() }
        return try await keys.identity(of: handshake)
      }
    }
    let services: [(any Service)?] = [keys, fetcher]
    try await ServerRunner.serve(router, configuration, beside: services.compactMap(\.self))
  }

  /// Loads the table, from a file or from an address; gives what fetches it again.
  private static func loadTable(
    _ settings: Configuration, into router: Router, _ configuration: inout BridgeConfiguration
  ) async throws -> TableFetcher? {
    guard let table = settings.table else { return nil }
    guard TableURL.isMeant(by: table) else {
      configuration.table = try router.load(tableAt: table)
      configuration.followsTableFile = true
      return nil
    }
    let fetcher = try await TableFetcher.start(
      table, for: router, keptIn: settings.tableCache, every: .seconds(settings.tableInterval),
      logger: settings.logger)
    configuration.table = fetcher.table
    return fetcher
  }

  /// What the settings say, but for what stands in documents of its own.
  private static func configuration(
    _ settings: Configuration
  ) throws(CommandError) -> BridgeConfiguration {
    var configuration = BridgeConfiguration(
      host: settings.host, port: settings.port, servesClient: !settings.isWithoutClient,
      limits: settings.limits,
      conformance: settings.isConformance, logger: settings.logger)
    settings.open(&configuration)
    configuration.unixPath = settings.unix
    configuration.prefix = settings.prefix
    configuration.drain = .seconds(settings.drain)
    configuration.loops = settings.loops
    configuration.servesInspector = !settings.isWithoutInspector
    configuration.contentSecurityPolicy = settings.contentSecurityPolicy
    if let web = settings.web {
      configuration.webRoot = try ServedWebFiles.folder(web)
    } else if let web = ServedWebFiles.find() {
      configuration.webRoot = web
      configuration.webEntries = ServedWebFiles.served(by: configuration)
    }
    return configuration
  }
}
