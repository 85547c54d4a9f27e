import ArgumentParser
import ServiceLifecycle
import WayStore
import Waybridge
import WaybridgeCluster
import WaybridgeTables

struct ServeCommand: ConfigurableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Serve a bridge at ws://HOST:PORT/bridge",
    discussion: """
      Example: waybridge serve --table routes.json
      Example: waybridge serve --table routes.json --policy policy.json --token-secret-file secret

      Clients that join a session host the routes of the table. The first line on standard output is \
      "listening on http://HOST:PORT". By default only programs of this machine and pages of the \
      server itself can connect. They can call every route that requires no permissions. The options \
      for access and tokens accept other clients, and a policy restricts calls.

      On SIGHUP the server reads the files of the policy, the keys, the table and the cluster's \
      secrets again, and fetches the keys of an identity provider. It logs the result for each file. With a service manager that supports systemd's protocols, it reports when \
      it listens, reloads and ends, and can use a socket that the service manager has opened.

      Settings without a flag:
      \(CommandSettingHelp.limits)

      Limits: see waybridge help limits.

      \(CommandSettingHelp.environment)

      \(CommandSettingHelp.files)

      Exit code: 0 after SIGTERM or SIGINT, once calls are done and connections closed; 1 if the \
      server cannot start, or a second signal ends it at once; 64 if the command line is wrong.
      """)

  @OptionGroup(title: "Network options") var network: CommandSettingFlags<NetworkSettings>
  @OptionGroup(title: "Access options") var access: CommandSettingFlags<AccessSettings>
  @OptionGroup(title: "Token options") var tokens: CommandSettingFlags<TokenSettings>
  @OptionGroup(title: "Table and policy options") var tables: CommandSettingFlags<TableSettings>
  @OptionGroup(title: "Durability and cluster options")
  var durability: CommandSettingFlags<DurabilitySettings>
  @OptionGroup(title: "Push options") var push: CommandSettingFlags<PushSettings>
  @OptionGroup(title: "Web file options") var files: CommandSettingFlags<WebFileSettings>
  @OptionGroup(title: "Process options") var process: CommandSettingFlags<ProcessSettings>
  @OptionGroup(title: "Log options") var log: CommandSettingFlags<LogSettings>
  @OptionGroup var config: ConfigurationFile

  var flags: [CommandSettingFlag] {
    network.all + access.all + tokens.all + tables.all + durability.all + push.all + files.all
      + process.all + log.all
  }

  func run() async throws {
    let settings = try settings()
    guard settings.data == nil || settings.cluster.url.isEmpty else {
      throw CommandError(
        "sessions are stored in a folder or in NATS, not in both; remove --data or --cluster")
    }
    let router = Router()
    var configuration = try Self.configuration(settings)
    configuration.onAwayPush = try PushWebhook(settings)?.send
    let startReport = CommandStartReport(settings.logger)
    defer { startReport.end() }
    configuration.systemdNotifier = try SystemdNotifier()
    // An invalid policy is reported here, and not as an error of the server.
    if let policy = configuration.sessions.policyFile {
      configuration.sessions.policy = try CommandJSONLocations.locating(inFile: policy) {
        try Policy(file: policy)
      }
    }
    if let data = settings.data {
      startReport.wait(for: "the stored sessions")
      configuration.sessions.store = try SQLiteSessionStore(folder: data)
      if configuration.blobs.folder == nil { configuration.blobs.folder = data + "/blobs" }
      if configuration.enablesConformanceMethods {
        try ConformanceEffectTask.register(in: router, folder: data)
      }
    } else if !settings.cluster.url.isEmpty {
      startReport.wait(for: "NATS")
      configuration.sessions.cluster = try Cluster(nats: settings.cluster)
    }
    startReport.wait(for: "the table")
    let fetcher = try await Self.loadTable(settings, into: router, &configuration)
    startReport.wait(for: "the keys of tokens")
    let keys = try await settings.tokenKeys()
    if let keys {
      configuration.tokenKeys = keys
      let allowsAnonymous = configuration.sessions.allowsAnonymous
      configuration.sessions.identify = { handshake in
        if allowsAnonymous, handshake.token == nil { return Identity() }
        return try await keys.identity(of: handshake)
      }
    }
    let services: [(any Service)?] = [keys, fetcher]
    startReport.wait(
      for: configuration.sessions.cluster == nil
        ? "the stored sessions" : "the cluster and its sessions")
    try await ServerRunner.run(
      router, configuration, alongside: services.compactMap(\.self), reloadsOnSignal: true
    ) { _ in
      startReport.end()
    }
  }

  /// Loads the table, from a file or a URL; returns its fetcher for a URL.
  private static func loadTable(
    _ settings: CommandSettings, into router: Router,
    _ configuration: inout BridgeConfiguration
  ) async throws -> TableFetcher? {
    guard let table = settings.table else { return nil }
    guard TableURL.hasURLScheme(in: table) else {
      configuration.sessions.table = try CommandJSONLocations.locating(inFile: table) {
        try router.load(tableAt: table)
      }
      configuration.sessions.watchesTableFile = true
      return nil
    }
    let fetcher = try await TableFetcher.load(
      table, for: router, cacheFolder: settings.tableCache, every: settings.tableInterval,
      logger: settings.logger)
    configuration.sessions.table = fetcher.table
    return fetcher
  }

  /// The configuration from the settings, without the documents that they refer to.
  private static func configuration(
    _ settings: CommandSettings
  ) throws(CommandError) -> BridgeConfiguration {
    var configuration = settings.bridge
    configuration.logger = settings.logger
    configuration.sessions.resultCheck = ResultCheck(rawValue: settings.checkResults) ?? .reject
    if let web = configuration.web.root {
      configuration.web.root = try ServeCommandWebFiles.folder(web)
    } else if let web = ServeCommandWebFiles.find() {
      configuration.web.root = web
      configuration.web.entries = ServeCommandWebFiles.served(by: configuration)
    }
    return configuration
  }
}
