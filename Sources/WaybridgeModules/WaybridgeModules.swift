import Foundation
import PackagePlugin

/// Writes `Router.registerModules()` for a target: it registers the modules and services in the
/// sources of the target and of those that it depends on.
@main
struct WaybridgeModules: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let dependencies = target.recursiveTargetDependencies
    guard let own = target as? SwiftSourceModuleTarget, dependencies.contains(where: isLibrary)
    else {
      Diagnostics.error(
        "WaybridgeModules is for Swift targets that depend on the product Waybridge;"
          + " \(target.name) does not"
      )
      return []
    }
    let siblings = Set(context.package.targets.map(\.id))
    // They are in the order of their dependencies.
    let others = dependencies.compactMap { $0 as? SwiftSourceModuleTarget }
      .filter { $0.recursiveTargetDependencies.contains(where: isLibrary) }
    let arguments = ([own] + others).flatMap { other in
      [siblings.contains(other.id) ? "--target" : "--foreign", other.moduleName]
        + files(of: other).map { $0.path(percentEncoded: false) }
    }
    let output = context.pluginWorkDirectoryURL.appending(path: "RegisteredModules.swift")
    return [
      .buildCommand(
        displayName: "Finding the modules of \(own.name)",
        executable: try context.tool(named: "FindModules").url,
        arguments: [output.path(percentEncoded: false)] + arguments,
        inputFiles: ([own] + others).flatMap(files), outputFiles: [output])
    ]
  }

  /// The target without which there is nothing to be registered in.
  private func isLibrary(_ target: any Target) -> Bool { target.name == "Waybridge" }

  private func files(of target: SwiftSourceModuleTarget) -> [URL] {
    target.sourceFiles(withSuffix: "swift").map(\.url)
      .sorted { $0.path(percentEncoded: false) < $1.path(percentEncoded: false) }
  }
}
