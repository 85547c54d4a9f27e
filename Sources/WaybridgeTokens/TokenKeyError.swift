import Waybridge

/// The reason why keys cannot be loaded from a file or a URL. Contains the path and the error,
/// and nothing of the content.
public struct TokenKeyError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file's path, or the URL of a key set.
  public let path: String
  /// The error, as the end of a sentence that begins with the file's name: "cannot be read: No such
  /// file or directory".
  public let reason: String
  private let source: String

  init(_ fault: FileError, in file: TokenKeyFile) {
    path = fault.path
    reason = fault.reason
    source = "The \(file.kind) file"
  }

  /// An error of a provider's key set.
  init(keySetURL: String, _ reason: String) {
    path = keySetURL
    self.reason = reason
    source = "The key set at"
  }

  /// A sentence with the path and the error.
  public var description: String { "\(source) \(path) \(reason)" }
}
