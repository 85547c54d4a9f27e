import ArgumentParser
import Foundation

/// Finds the folder of web files: as given, beside the command, or in the package that the command was built in.
enum WebFiles {
  static func find(_ given: String?) throws -> String? {
    if let given {
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: given, isDirectory: &isFolder),
        isFolder.boolValue
      else { throw ValidationError("--web: there is no folder \(given)") }
      return given
    }
    let command = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    var folder = command.deletingLastPathComponent()
    // The package is four levels up: .build/TRIPLE/CONFIGURATION/waybridge.
    for _ in 0...4 {
      let web = folder.appendingPathComponent("web")
      let marker = web.appendingPathComponent("bridge/bridge.js").path
      if FileManager.default.fileExists(atPath: marker) { return web.path }
      folder.deleteLastPathComponent()
    }
    return nil
  }
}
