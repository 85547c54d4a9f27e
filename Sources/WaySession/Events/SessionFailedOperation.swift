import WayRouting

/// An operation on the stack or on a page, reported if it fails.
package struct SessionFailedOperation: Sendable {
  /// The method; nil if a URI was called.
  package let method: String?
  /// The URI that was called, or the URI of the page; nil if it is unknown.
  package let uri: String?
  /// Whether the server has added the URI: the caller has named the page by its id.
  let addsURI: Bool
  package let caller: Caller
}
