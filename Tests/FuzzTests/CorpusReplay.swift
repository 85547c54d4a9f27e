import Foundation

/// Checks a target with every input of a folder.
///
/// A fault of a parser may end the process. To learn which input it was, run the replay in a process of
/// its own and read the report afterwards: it names each input before it is checked.
struct CorpusReplay {
  private let target: FuzzTarget
  private let folder: URL
  private let report: URL

  /// An input for which the property of the target does not hold.
  struct InputFailure: Error {
    let path: String
    let failure: FuzzFailure
  }

  /// Creates a replay that writes its report to a file.
  init(of target: FuzzTarget, in folder: URL, report: URL) {
    (self.target, self.folder, self.report) = (target, folder, report)
  }

  /// Checks the inputs in the order of their names, until one fails.
  func run() throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() {
      let input = folder.appendingPathComponent(name)
      try "\(input.path): ended the process".write(to: report, atomically: false, encoding: .utf8)
      do throws(FuzzFailure) {
        try target.check([UInt8](try Self.content(of: input)))
      } catch {
        try "\(input.path): \(error)".write(to: report, atomically: false, encoding: .utf8)
        throw InputFailure(path: input.path, failure: error)
      }
    }
    try "".write(to: report, atomically: false, encoding: .utf8)
  }

  private static func content(of input: URL) throws(FuzzFailure) -> Data {
    do { return try Data(contentsOf: input) } catch {
      throw FuzzFailure("cannot be read: \(error)")
    }
  }
}
