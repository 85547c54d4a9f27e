import Foundation
import PackagePlugin

/// `swift package waybridge-routes …`: `waybridge routes …` in a package that depends on Waybridge,
/// with the paths seen from the folder of that package.
@main
struct WaybridgeRoutes: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) async throws {
    let process = Process()
    process.executableURL = try context.tool(named: "WaybridgeCommand").url
    process.arguments = ["routes"] + (arguments.isEmpty ? ["--help"] : arguments)
    process.currentDirectoryURL = context.package.directoryURL
    try process.run()
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      // What is wrong the command has told.
      Diagnostics.error("waybridge routes ended with \(process.terminationStatus)")
      return
    }
  }
}
