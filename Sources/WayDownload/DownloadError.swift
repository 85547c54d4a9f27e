/// The reason why a document was not fetched.
package struct DownloadError: Error, Sendable, Hashable {
  /// The end of a sentence that begins with the document's name: "did not answer within 10 s".
  package let reason: String

  /// Creates an error.
  package init(reason: String) { self.reason = reason }
}
