/// One thing that is wrong in a document.
package struct DocumentFault: Sendable, Hashable, CustomStringConvertible {
  /// A JSON path, `$.routes[3].pattern`.
  package let path: String
  /// What is wrong and what to write.
  package let message: String

  package var description: String { "\(path): \(message)" }
}

/// All that is wrong in a document, in the order in which it was checked; never empty.
package struct DocumentFaults: Error, Sendable, CustomStringConvertible {
  package let faults: [DocumentFault]

  package init(faults: [DocumentFault]) {
    self.faults = faults
  }

  /// One fault a line.
  package var description: String { faults.map(\.description).joined(separator: "\n") }
}
