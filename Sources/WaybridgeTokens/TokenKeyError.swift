import Waybridge

/// Why keys cannot be taken from a file. Says which file and what is wrong, and holds nothing of
/// what is in it.
public struct TokenKeyError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file's path.
  public let path: String
  /// What is wrong, to follow the file's name: "cannot be read: No such file or directory".
  public let reason: String
  private let kind: String

  init(_ fault: FileFault, in file: TokenKeyFile) {
    path = fault.path
    reason = fault.reason
    kind = file.kind
  }

  /// A sentence with the path and what is wrong.
  public var description: String { "The \(kind) file \(path) \(reason)" }
}
