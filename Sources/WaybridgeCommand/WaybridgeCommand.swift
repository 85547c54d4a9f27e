import ArgumentParser
import Dispatch
import Glibc
import Waybridge

@main
enum Program {
  static func main() {
    // The main thread and its queue have no work.
    Task.detached { await WaybridgeCommand.execute() }
    dispatchMain()
  }
}

struct WaybridgeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "waybridge",
    abstract: "JSON-RPC bridge between the web, Flutter and native parts of an app",
    discussion: """
      Example: waybridge demo
      Example: waybridge serve --table routes.json

      Help topics: waybridge help limits lists the limits of clients, sessions and messages.
      """,
    version: "waybridge \(BridgeServer.version) (commit \(BridgeServer.commit ?? "unknown"))",
    subcommands: [
      ServeCommand.self, DemoCommand.self, CallCommand.self, ShellCommand.self, ExplainCommand.self,
      ReplayCommand.self,
      TokenCommand.self, URICommand.self, PolicyCommand.self, RoutesCommand.self,
      SessionsCommand.self, LimitsHelpCommand.self,
    ])

  /// Parses the arguments, runs the command and ends the program.
  static func execute() async {
    do {
      var command = try await asyncParseAsRoot()
      if var asyncCommand = command as? any AsyncParsableCommand {
        try await asyncCommand.run()
      } else {
        try command.run()
      }
      Glibc.exit(EXIT_SUCCESS)
    } catch {
      exit(after: error)
    }
  }

  /// Prints the help that an error requests, or its message, and ends the program with its exit
  /// code.
  private static func exit(after error: any Error) -> Never {
    let text = fullMessage(for: error, columns: nil)
    let code = exitCode(for: error)
    switch (text.isEmpty, code.isSuccess) {
    case (true, _): break
    case (false, true): print(HelpText.arranged(text))
    case (false, false): Output.printError(ErrorText.withLowercaseStart(text))
    }
    Glibc.exit(code.rawValue)
  }
}
