import WayValues

/// Which state of a route table somebody has.
public struct TableStamp: Sendable, Hashable {
  /// What the author calls it.
  public let version: String
  /// 16 hex digits: FNV-1a with 64 bits over the document as compact JSON, without `$schema`.
  public let hash: String

  /// That of a server without a table.
  package static let none = TableStamp(version: "", hash: "")

  /// A stamp, as a server tells it or generated code has it.
  public init(version: String, hash: String) {
    self.version = version
    self.hash = hash
  }

  /// As it stands on the wire.
  package var value: Value { ["version": .string(version), "hash": .string(hash)] }
}
