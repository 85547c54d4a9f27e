import ArgumentParser
import Foundation
import Waybridge

struct Demo: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Serve the demo: a phone with native, web and Flutter pages, ready to click.")

  @Option(help: "The port to listen on; 0 takes any free one.")
  var port = 8080

  mutating func validate() throws {
    try Listening.validate(port: port)
  }

  func run() async throws {
    guard let web = try WebFiles.find(nil) else {
      throw ValidationError(
        "The demo's web files were not found beside the command or in its package. Run it from the package: swift run waybridge demo"
      )
    }
    let router = Router()
    let table = URL(fileURLWithPath: web).appendingPathComponent("../protocol/routes/demo.json")
    let version = try TableFile.load(table.standardizedFileURL.path, into: router)
    try DemoTasks.register(in: router)
    let configuration = BridgeConfiguration(port: port, webRoot: web, tableVersion: version)
    try await Listening.serve(router, configuration, then: "open {address}/demo/ in a browser")
  }
}
