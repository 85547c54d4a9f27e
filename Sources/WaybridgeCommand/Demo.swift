import ArgumentParser
import Foundation
import Waybridge

struct Demo: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Serve the demo: a phone with native, web and Flutter pages, ready to click.",
    discussion: """
      The first line on standard output is the server's address, the second the page to open. SIGTERM or SIGINT \
      closes every connection and exits with 0.
      """)

  @Option(help: "The port to listen on; 0 takes any free one.")
  var port = 8080

  mutating func validate() throws {
    try Listening.validate(port: port)
  }

  func run() async throws {
    guard let web = WebFiles.find() else {
      throw CommandError(
        """
        The demo's web files were not found beside the command or in its package. \
        Run it from the package: swift run waybridge demo
        """)
    }
    let router = Router()
    let table = URL(fileURLWithPath: web).appendingPathComponent("../protocol/routes/demo.json")
    let version = try router.load(tableAt: table.standardizedFileURL.path)
    try DemoTasks.register(in: router)
    let configuration = BridgeConfiguration(
      port: port, webRoot: web, webEntries: WebFiles.entries, tableVersion: version)
    try await Listening.serve(router, configuration, then: "open {address}/demo/ in a browser")
  }
}
