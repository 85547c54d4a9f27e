import ArgumentParser
import Waybridge

@main
struct WaybridgeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "waybridge",
    abstract:
      "A JSON-RPC bridge that opens an app's routes from web pages, Flutter views and back-ends.",
    version: "waybridge \(BridgeServer.version)",
    subcommands: [
      Serve.self, Demo.self, CallCommand.self, ShellCommand.self, Explain.self, TokenCommand.self,
      URICommand.self,
      PolicyCommand.self, RoutesCommand.self, SessionsCommand.self,
    ])
}
