/// The result of reading a file of a running server again.
public struct FileReload: Sendable, Hashable {
  /// What the file contains.
  public enum FileContent: String, Sendable, Hashable, CaseIterable {
    /// A policy.
    case policy
    /// Keys that verify tokens.
    case keys
    /// A route table.
    case table
    /// The secrets of a cluster.
    case secrets
  }

  /// Where the content comes from.
  public enum ReloadSource: String, Sendable, Hashable, CaseIterable {
    /// A file.
    case file
    /// A URL.
    case fetch
  }

  /// What the file contains.
  public let content: FileContent
  /// Where the content comes from.
  public let source: ReloadSource
  /// The file's path, or the URL of an identity provider's keys if ``source`` is
  /// ``ReloadSource/fetch``.
  public let path: String
  /// The reason why the server uses the previous content: it rejected the new one, or could neither
  /// get nor check it. Nil if the new one is in force.
  public let rejection: String?

  /// Creates the result of reading a file.
  public init(
    _ content: FileContent, path: String, source: ReloadSource = .file, rejection: String? = nil
  ) {
    self.content = content
    self.source = source
    self.path = path
    self.rejection = rejection
  }
}

/// Keys from files, for ``BridgeConfiguration/tokenKeys``. `TokenKeys` of WaybridgeTokens conforms.
public protocol ReloadableKeys: Sendable {
  /// Reads all files now, and applies those that are valid. Logs the result for each.
  func reload() async -> [FileReload]

  /// Returns the result of each change of keys from now on, including those of ``reload()``.
  func reloads() async -> AsyncStream<FileReload>

  /// A hash of the keys that are in force, which does not reveal them.
  var hash: String { get async }

  /// How often the content of a file was rejected.
  var rejections: Int { get async }

  /// How many requests for the keys of an identity provider have failed; 0 if keys come only from
  /// files.
  var fetchFailures: Int { get async }
}

extension ReloadableKeys {
  /// An empty stream.
  public func reloads() async -> AsyncStream<FileReload> { AsyncStream { $0.finish() } }

  /// 0: the keys come only from files.
  public var fetchFailures: Int { get async { 0 } }
}
