/// Settings of a request that are the same for all documents of a kind.
package struct DownloadOptions: Sendable {
  /// The largest size of a document in bytes, after decompression.
  let maxSize: Int
  /// The header field `User-Agent` of the request.
  let userAgent: String

  /// Creates settings of a request.
  package init(maxSize: Int, userAgent: String) {
    self.maxSize = maxSize
    self.userAgent = userAgent
  }
}
