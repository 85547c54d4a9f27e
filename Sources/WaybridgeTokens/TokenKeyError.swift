import Waybridge

/// The reason why keys cannot be loaded from a file. Contains the path and the error, and nothing
/// of the file's content.
public struct TokenKeyError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file's path.
  public let path: String
  /// The error, as the end of a sentence that begins with the file's name: "cannot be read: No such
  /// file or directory".
  public let reason: String
  private let fileKind: String

  init(_ fault: FileError, in file: TokenKeyFile) {
    path = fault.path
    reason = fault.reason
    fileKind = file.kind
  }

  /// A sentence with the path and the error.
  public var description: String { "The \(fileKind) file \(path) \(reason)" }
}
