import WayValues

/// The version and hash of a route table.
public struct TableStamp: Sendable, Hashable, Codable {
  /// The version as its author wrote it.
  public let version: String
  /// 16 hex digits: FNV-1a with 64 bits over the document as compact JSON, without `$schema`.
  public let hash: String

  /// The stamp of a server without a table.
  package static let none = TableStamp(version: "", hash: "")

  /// Creates a stamp, as a server sends it or generated code contains it.
  public init(version: String, hash: String) {
    self.version = version
    self.hash = hash
  }

  /// The stamp in a message.
  package var value: Value { ["version": .string(version), "hash": .string(hash)] }
}
