import Foundation

/// A folder that is gone with its last reference.
package final class TestFolder: Sendable {
  package let path: String

  package init() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  package func path(_ name: String) -> String { path + "/" + name }

  /// Writes a file anew, or in place where there is one of this name. Gives its path.
  ///
  /// - Parameter time: when it was modified, in seconds since 1970: two writings within one tick of
  ///   the kernel's clock have one time otherwise.
  @discardableResult
  package func write(
    _ text: String, to name: String = "file", mode: Int = 0o600, time: Double
  ) throws -> String {
    try write(Array(text.utf8), to: name, mode: mode, time: time)
  }

  @discardableResult
  package func write(
    _ bytes: [UInt8], to name: String = "file", mode: Int = 0o600, time: Double = 1
  ) throws -> String {
    let path = path(name)
    if let file = FileHandle(forWritingAtPath: path) {
      try file.truncate(atOffset: 0)
      try file.write(contentsOf: Data(bytes))
      try file.close()
    } else {
      try Data(bytes).write(to: URL(fileURLWithPath: path))
    }
    try FileManager.default.setAttributes(
      [.posixPermissions: mode, .modificationDate: Date(timeIntervalSince1970: time)],
      ofItemAtPath: path)
    return path
  }
}
