import Foundation

/// A folder that is removed with its last reference.
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

  /// Writes a file; overwrites an existing file in place. Returns its path.
  ///
  /// - Parameter time: the modification time in seconds since 1970. It is explicit because two writes
  ///   within one tick of the kernel's clock would otherwise have the same time.
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
