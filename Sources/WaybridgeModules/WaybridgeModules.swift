import Foundation
import PackagePlugin

/// Writes `Router.registerModules()` for a target: it registers the modules and services in the sources of the target
/// and of those that it depends on.
@main
struct WaybridgeModules: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let dependencies = target.recursiveTargetDependencies
    guard let own = target as? SwiftSourceModuleTarget, dependencies.contains(where: isLibrary)
    else {
      Diagnostics.error(
        "WaybridgeModules is for Swift targets that depend on the product Waybridge; \(target.name) does not"
      )
      return []
    }
    let siblings = Set(context.package.targets.map(\.id))
    // They come in the order in which they depend on one another.
    let others = dependencies.compactMap { $0 as? SwiftSourceModuleTarget }
      .filter { $0.recursiveTargetDependencies.contains(where: isLibrary) }
    let told =
      arguments(own, "--own", others)
      + others.flatMap {
        arguments($0, siblings.contains($0.id) ? "--sibling" : "--foreign", others)
      }
    let output = context.pluginWorkDirectoryURL.appending(path: "RegisteredModules.swift")
    return [
      .buildCommand(
        displayName: "Finding the modules of \(own.name)",
        executable: try context.tool(named: "FindModules").url,
        arguments: [output.path(percentEncoded: false)] + told,
        inputFiles: ([own] + others).flatMap(files), outputFiles: [output])
    ]
  }

  /// The target without which there is nothing to be registered in.
  private func isLibrary(_ target: any Target) -> Bool { target.name == "Waybridge" }

  /// What the tool is told of a target.
  private func arguments(
    _ target: SwiftSourceModuleTarget, _ relation: String, _ others: [SwiftSourceModuleTarget]
  ) -> [String] {
    let used = Set(target.recursiveTargetDependencies.map(\.id))
    let names = others.filter { used.contains($0.id) }.map(\.moduleName)
    return [relation, target.moduleName, names.joined(separator: ",")]
      + files(of: target).map { $0.path(percentEncoded: false) }
  }

  private func files(of target: SwiftSourceModuleTarget) -> [URL] {
    target.sourceFiles(withSuffix: "swift").map(\.url)
      .sorted { $0.path(percentEncoded: false) < $1.path(percentEncoded: false) }
  }
}
