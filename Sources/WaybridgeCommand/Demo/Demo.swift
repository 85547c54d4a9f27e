import ArgumentParser
import Foundation
import WayStore
import Waybridge

struct Demo: ConfigurableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Serve the demo: a phone with native, web and Flutter pages, ready to click.",
    discussion: """
      The first line on standard output is "listening on http://HOST:PORT", the second the page to \
      open. The inspector is at /inspector/, and may go back to earlier tables at \
      /inspector/#token=workbench. Sessions, the cart and who is logged in are kept in a folder, so \
      that the server can be killed and started again on the page: one of its own, unless --data \
      names one. The limits of waybridge serve can be set as there, by variables and the configuration \
      file.

      Exit code: 0 after SIGTERM or SIGINT, which close every connection; 1 where it cannot serve; \
      64 where the command line is wrong.

      Example: waybridge demo --port 0
      """)

  @Option(help: .setting("port"), completion: .nothing)
  var port: String?

  @Option(help: .setting("data", valueName: "dir"), completion: .directory)
  var data: String?

  @Flag(help: .hidden)
  var temporaryData = false

  @OptionGroup var doors: AccessOptions
  @OptionGroup var log: LogOptions
  @OptionGroup var config: ConfigurationFile

  var flags: KeyValuePairs<String, String?> {
    [
      "port": port, "data": data, "allowOrigin": AccessOptions.joined(doors.allowOrigin),
      "allowHost": AccessOptions.joined(doors.allowHost),
      "trustedProxy": AccessOptions.joined(doors.trustedProxy),
      "log.level": log.logLevel, "log.format": log.logFormat,
    ]
  }

  func run() async throws {
    let settings = try settings()
    guard let web = ServedWebFiles.find() else {
      throw CommandError(
        """
        The demo's web files were not found beside the command or in its package. \
        Run it from the package: swift run waybridge demo
        """)
    }
    let router = Router()
    let table = URL(fileURLWithPath: web).appendingPathComponent("../protocol/routes/demo.json")
    let live = try router.load(tableAt: table.standardizedFileURL.path)
    let events = DemoEvents()
    var configuration = BridgeConfiguration(
      port: settings.port, webRoot: web, limits: settings.limits, logger: settings.logger)
    configuration.webEntries = ServedWebFiles.served(by: configuration)
    settings.open(&configuration)
    let restart = try DemoRestart(
      folder: settings.data, isTemporary: temporaryData,
      servesInspector: ServedWebFiles.served(by: configuration).contains("inspector"))
    defer { restart.ended() }
    try restart.register(in: router)
    try DemoTasks.register(in: router, events: events, keptIn: restart.folder)
    configuration.table = live
    configuration.policy = DemoPolicy.policy
    configuration.handshakeHeaders = DemoPolicy.headers
    configuration.identify = DemoPolicy.identity
    configuration.store = try SQLiteSessionStore(folder: restart.folder)
    // Whoever ends a demo does not wait for its open pages.
    configuration.drain = .zero
    try await ServerRunner.serve(
      router, configuration, then: "open {address}/demo/ in a browser", use: events.start,
      at: restart.listens)
  }
}
