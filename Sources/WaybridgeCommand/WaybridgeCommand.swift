import ArgumentParser
import Waybridge

@main
struct WaybridgeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "waybridge",
    abstract:
      "A JSON-RPC bridge that opens an app's routes from web pages, Flutter views and back-ends.",
    version: "waybridge \(BridgeServer.version) (commit \(BridgeServer.commit ?? "unknown"))",
    subcommands: [
      Serve.self, Demo.self, CallCommand.self, ShellCommand.self, Explain.self, Replay.self,
      TokenCommand.self, URICommand.self, PolicyCommand.self, RoutesCommand.self,
      SessionsCommand.self,
    ])
}
