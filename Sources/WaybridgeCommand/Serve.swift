import ArgumentParser
import Waybridge

struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Serve a bridge at ws://HOST:PORT/bridge.",
    discussion: """
      Serves the routes of a table; clients that join a session host them. The first line on standard output is \
      the address. SIGTERM or SIGINT closes every connection and exits with 0. The exit code is 1 where it cannot \
      serve, and 64 where the command line is wrong.
      """)

  @Option(help: ArgumentHelp("The route table, a JSON document.", valueName: "file"))
  var table: String?

  @Option(help: "The loopback address to listen on: 127.0.0.1, localhost or ::1.")
  var host = "127.0.0.1"

  @Option(help: "The port to listen on; 0 takes any free one.")
  var port = 8080

  @Option(
    help: ArgumentHelp(
      "The folder of files to serve at /. Without it, the web files that come with Waybridge.",
      valueName: "dir"))
  var web: String?

  @Flag(
    help: """
      Add the JSON-RPC specification's example methods, echo, the task action://echo and an echo of messages at \
      /echo, for testing clients.
      """)
  var conformance = false

  mutating func validate() throws {
    try Listening.validate(port: port)
  }

  func run() async throws {
    let router = Router()
    var configuration = BridgeConfiguration(host: host, port: port, conformance: conformance)
    if let web {
      configuration.webRoot = try WebFiles.folder(web)
    } else if let web = WebFiles.find() {
      configuration.webRoot = web
      configuration.webEntries = WebFiles.entries
    }
    if let table { configuration.tableVersion = try router.load(tableAt: table) }
    try await Listening.serve(router, configuration)
  }
}
