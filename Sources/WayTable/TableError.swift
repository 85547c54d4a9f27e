/// The reason why a table was rejected. Nothing has changed then.
public struct TableError: Error, Sendable, CustomStringConvertible {
  /// The kind of reason.
  public enum TableErrorReason: String, Sendable {
    /// The table cannot be read.
    case unreadable
    /// The table has errors, or does not fit the router.
    case invalid = "wrong"
    /// Another version than the expected one is active.
    case stale
    /// The version is older than the active one.
    case olderVersion = "versionBack"
    /// There is no such earlier version.
    case unknownVersion = "noVersion"
  }

  /// The kind of reason.
  public let reason: TableErrorReason
  /// The problem, its place and the solution; all errors of a document, one a line.
  public let description: String
  /// The errors of the document.
  package let faults: [DocumentFault]

  package init(_ reason: TableErrorReason, _ description: String, _ faults: [DocumentFault] = []) {
    self.reason = reason
    self.description = description
    self.faults = faults
  }

  /// Creates an error for an invalid document. `subject` is its description at the start of a
  /// sentence.
  package init(_ subject: String, _ faults: DocumentFaults) {
    self.init(.invalid, "\(subject) is wrong:\n\(faults)", faults.faults)
  }
}
