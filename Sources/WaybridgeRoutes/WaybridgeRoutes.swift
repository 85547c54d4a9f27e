import Foundation
import PackagePlugin

/// `swift package waybridge-routes …`: `waybridge routes …` in a package that depends on Waybridge,
/// with the paths seen from the folder of that package.
@main
struct WaybridgeRoutes: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) async throws {
    // If the command were a tool of the plugin, every build of Waybridge would compile it and its
    // dependencies twice.
    let built = try packageManager.build(.product("waybridge"), parameters: .init())
    guard built.succeeded,
      let command = built.builtArtifacts.first(where: { $0.kind == .executable })
    else {
      Diagnostics.error("waybridge could not be built:\n\(built.logText)")
      return
    }
    let process = Process()
    process.executableURL = command.url
    process.arguments = ["routes"] + (arguments.isEmpty ? ["--help"] : arguments)
    process.currentDirectoryURL = context.package.directoryURL
    try process.run()
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      // The command has already printed the error.
      Diagnostics.error("waybridge routes ended with \(process.terminationStatus)")
      return
    }
  }
}
