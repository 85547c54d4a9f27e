import Foundation

/// A file that a command writes.
struct OutputFile {
  private let path: String

  /// Creates an output file at `path`; writing creates its folder if necessary.
  init(_ path: String) {
    self.path = path
  }

  /// Whether the file contains exactly this text; nil if there is no such file.
  func matches(_ text: String) -> Bool? {
    FileManager.default.contents(atPath: path).map { $0 == Data(text.utf8) }
  }

  /// Writes the file as a whole or not at all. Throws if that fails.
  func write(_ text: String) throws(CommandError) {
    let folder = URL(filePath: path).deletingLastPathComponent()
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
    } catch {
      throw CommandError("\(path) cannot be written: \(error.localizedDescription)")
    }
  }
}
