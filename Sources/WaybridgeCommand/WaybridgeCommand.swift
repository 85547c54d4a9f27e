import ArgumentParser

@main
struct WaybridgeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "waybridge",
    abstract:
      "A JSON-RPC bridge that opens an app's routes from web pages, Flutter views and back-ends.",
    subcommands: [Serve.self, Demo.self, CallCommand.self])
}
