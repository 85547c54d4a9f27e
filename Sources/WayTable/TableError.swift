/// Why a table was not taken. Nothing has changed then.
public struct TableError: Error, Sendable, CustomStringConvertible {
  /// What kind of reason it is.
  public enum Reason: String, Sendable {
    /// It cannot be read at all.
    case unreadable
    /// Something in it is wrong, or it does not fit the router.
    case wrong
    /// Another version than the expected one is in force.
    case stale
    /// Its version is before the one that is in force.
    case versionBack
    /// There is no such version to go back to.
    case noVersion
  }

  /// Of what kind the reason is.
  public let reason: Reason
  /// What is wrong, where, and what to do; every fault of a document, one a line, each with its
  /// place.
  public let description: String
  /// The faults of the document.
  package let faults: [DocumentFault]

  package init(_ reason: Reason, _ description: String, _ faults: [DocumentFault] = []) {
    self.reason = reason
    self.description = description
    self.faults = faults
  }

  /// What is wrong with a document; `subject` names it at the beginning of a sentence.
  package init(_ subject: String, _ faults: DocumentFaults) {
    self.init(.wrong, "\(subject) is wrong:\n\(faults)", faults.faults)
  }
}
