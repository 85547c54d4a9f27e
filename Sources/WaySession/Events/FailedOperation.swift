import WayRouting

/// What a call wants of the stack or of a page; told where it fails.
package struct FailedOperation: Sendable {
  /// The method; nil where a URI was called.
  package let method: String?
  /// The URI that was called, or that of the page that is meant; nil where it is not known.
  package let uri: String?
  package let caller: Caller
}
