import Foundation
import Waybridge

/// Finds the folder of web files.
enum ServeCommandWebFiles {
  /// The served entries of the folder that comes with Waybridge, which also contains tests.
  static let entries = ["index.html", "bridge", "demo", "inspector"]

  /// The entries that a server with this configuration serves.
  static func served(by configuration: BridgeConfiguration) -> [String] {
    entries.filter {
      switch $0 {
      case "bridge": configuration.web.servesClient
      case "inspector": configuration.web.servesClient && configuration.web.servesInspector
      default: true
      }
    }
  }

  /// Checks that a given folder exists and returns it.
  static func folder(_ path: String) throws(CommandError) -> String {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue
    else { throw CommandError("there is no folder \(quoted(path)); check the path of --web") }
    return path
  }

  /// The folder that comes with Waybridge: beside the command, in the package in which the command
  /// was built, or where it is installed (`../share/waybridge` of the command's folder).
  static func find() -> String? {
    let command = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let beside = command.deletingLastPathComponent()
    var folder = beside
    // The package is three levels up from .build/TRIPLE/CONFIGURATION/, where the command is built.
    for _ in 0...3 {
      if let web = web(in: folder) { return web }
      folder.deleteLastPathComponent()
    }
    return web(in: beside.appendingPathComponent("../share/waybridge").standardizedFileURL)
  }

  private static func web(in folder: URL) -> String? {
    let web = folder.appendingPathComponent("web")
    let marker = web.appendingPathComponent("bridge/bridge.js").path
    return FileManager.default.fileExists(atPath: marker) ? web.path : nil
  }
}
