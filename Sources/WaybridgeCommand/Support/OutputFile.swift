import Foundation

/// A file that a command writes.
struct OutputFile {
  private let path: String

  /// `path` names it; its folder is made where it is not there.
  init(_ path: String) {
    self.path = path
  }

  /// Whether exactly this text stands in it; nil where there is no such file.
  func holds(_ text: String) -> Bool? {
    FileManager.default.contents(atPath: path).map { $0 == Data(text.utf8) }
  }

  /// Writes it whole or not at all. Throws where that fails.
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
