import WayRPC
import WayTable
import WayValues

import class Foundation.FileManager
import struct Foundation.URL

/// Tables to generate from.
enum TableFixtures {
  /// `Tests/WayTableToolsTests/Golden`
  static let goldenFolder = URL(filePath: #filePath).deletingLastPathComponent().appending(
    path: "Golden")

  /// The small table that the golden files are made from.
  static func small() throws -> RouteTable { try read(goldenFolder.appending(path: "table.json")) }

  /// The demo's.
  static func demo() throws -> RouteTable {
    try read(goldenFolder.appending(path: "../../../protocol/routes/demo.json"))
  }

  static func text(of url: URL) throws -> String {
    struct Missing: Error { let path: String }
    guard let data = FileManager.default.contents(atPath: url.path) else {
      throw Missing(path: url.path)
    }
    return String(decoding: data, as: UTF8.self)
  }

  private static func read(_ url: URL) throws -> RouteTable {
    try RouteTable(parsing: try JSON.parse(try text(of: url)))
  }
}
