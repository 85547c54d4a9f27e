import ArgumentParser
import Foundation
import WayStore
import Waybridge

struct DemoCommand: ConfigurableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Serve the demo, an app with native, web and Flutter-style pages",
    discussion: """
      Example: waybridge demo
      Example: waybridge demo --port 0

      The first line on standard output is "listening on http://HOST:PORT", the second the page to \
      open in a browser. The inspector is at /inspector/; at /inspector/#token=workbench it can also \
      restore earlier tables. The demo stores sessions, the cart and the logged-in users in a folder, \
      so that its page can kill and restart the server. Without --data it is a temporary folder.

      Limits: see waybridge help limits.

      \(CommandSettingHelp.environment)

      \(CommandSettingHelp.files)

      Exit code: 0 after SIGTERM or SIGINT, which close every connection; 1 if the server cannot \
      start; 64 if the command line is wrong.
      """)

  @OptionGroup var own: CommandSettingFlags<DemoSettings>

  @Flag(help: .hidden)
  var temporaryData = false

  @OptionGroup(title: "Access options") var access: CommandSettingFlags<AccessSettings>
  @OptionGroup(title: "Log options") var log: CommandSettingFlags<LogSettings>
  @OptionGroup var config: ConfigurationFile

  var flags: [CommandSettingFlag] { own.all + access.all + log.all }

  func run() async throws {
    let settings = try settings()
    guard let web = ServeCommandWebFiles.find() else {
      throw CommandError(
        """
        the demo's web files are neither next to the program nor in its package; run it from the \
        package: swift run waybridge demo
        """)
    }
    let router = Router()
    let table = URL(fileURLWithPath: web).appendingPathComponent("../protocol/routes/demo.json")
    let live = try router.load(tableAt: table.standardizedFileURL.path)
    let events = DemoEvents()
    let network = settings.bridge.network
    var configuration = BridgeConfiguration(
      port: network.port, webRoot: web, limits: settings.bridge.limits, logger: settings.logger)
    configuration.network.allowedOrigins = network.allowedOrigins
    configuration.network.allowedHosts = network.allowedHosts
    configuration.network.trustedProxies = network.trustedProxies
    configuration.web.entries = ServeCommandWebFiles.served(by: configuration)
    let restart = try DemoRestart(
      folder: settings.data, isTemporary: temporaryData,
      servesInspector: ServeCommandWebFiles.served(by: configuration).contains("inspector"))
    defer { restart.removeTemporaryFolder() }
    try restart.register(in: router)
    try DemoTasks.register(in: router, events: events, storedIn: restart.folder)
    configuration.sessions.table = live
    configuration.sessions.policy = DemoPolicy.policy
    configuration.network.handshakeHeaders = DemoPolicy.headers
    configuration.sessions.identify = DemoPolicy.identity
    configuration.blobs.folder = restart.folder + "/blobs"
    configuration.sessions.store = try SQLiteSessionStore(folder: restart.folder)
    // A demo ends without waiting for its open pages.
    configuration.drainTimeout = .zero
    try await ServerRunner.run(
      router, configuration, banner: "open {address}/demo/ in a browser", onCreate: events.attach,
      onListening: restart.didListen)
  }
}

/// The settings of `demo` that it shares with `serve`, besides those for access and the log.
enum DemoSettings: CommandSettingGroup {
  static let settings = ["port", "data"].compactMap(CommandSetting.named)
}
