import Foundation
import WayRPC
import WayValues

/// Access to files of the project for tests.
package enum ProjectFiles {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  package static func url(_ path: String) -> URL {
    root.appendingPathComponent(path)
  }

  package static func text(_ path: String) throws -> String {
    try String(contentsOf: url(path), encoding: .utf8)
  }

  package static func json(_ path: String) throws -> Value {
    let data = try Data(contentsOf: url(path))
    return try JSON.parse([UInt8](data).span.bytes)
  }

  /// Every transcript of `protocol/vectors/`, by file name.
  package static func transcripts() throws -> [Transcript] {
    let folder = url("protocol/vectors")
    return try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".json") }.sorted()
      .map { try Transcript(try json("protocol/vectors/\($0)"), file: $0) }
  }
}
