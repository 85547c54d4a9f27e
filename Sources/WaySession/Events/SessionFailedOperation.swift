import WayRouting

/// An operation on the stack or on a page, reported if it fails.
package struct SessionFailedOperation: Sendable {
  /// The method; nil if a URI was called.
  package let method: String?
  /// The URI that was called, or the URI of the page; nil if it is unknown.
  package let uri: String?
  package let caller: Caller
}
