import Foundation
import Waybridge

/// The folder of web files.
enum ServedWebFiles {
  /// What is served of the folder that comes with Waybridge, which holds tests too.
  static let entries = ["index.html", "bridge", "demo", "inspector"]

  /// Those of them that a server of this configuration serves.
  static func served(by configuration: BridgeConfiguration) -> [String] {
    entries.filter {
      switch $0 {
      case "bridge": configuration.servesClient
      case "inspector": configuration.servesClient && configuration.servesInspector
      default: true
      }
    }
  }

  /// The folder that is named for the files.
  static func folder(_ path: String) throws(CommandError) -> String {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue
    else { throw CommandError("There is no folder \(path) for the web files") }
    return path
  }

  /// The folder that comes with Waybridge: beside the command, in the package that the command was
  /// built in, or where it is installed (`../share/waybridge` of the command's folder).
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
