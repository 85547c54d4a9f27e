/// One error in a document.
package struct DocumentFault: Sendable, Hashable, CustomStringConvertible {
  /// A JSON path, such as `$.routes[3].pattern`.
  package let path: String
  /// The error and its correction.
  package let message: String

  package var description: String { "\(path): \(message)" }
}

/// The first errors of a document, in the order of the checks. Never empty.
package struct DocumentFaults: Error, Sendable, CustomStringConvertible {
  /// The number of errors that are described; one more tells that there are further ones.
  package static let limit = 32

  package let faults: [DocumentFault]

  package init(faults: [DocumentFault]) {
    self.faults = faults
  }

  /// One error a line.
  package var description: String { faults.map(\.description).joined(separator: "\n") }
}
