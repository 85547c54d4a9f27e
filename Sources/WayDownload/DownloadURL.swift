import Foundation

/// The address of a document: `https`, or `http` on this machine's loopback.
package struct DownloadURL: Sendable, Hashable, CustomStringConvertible {
  /// The address as it was given, without a fragment.
  package let description: String
  let url: URL

  /// Throws ``DownloadError`` for an invalid URL, and for one that is not protected.
  package init(_ text: String) throws(DownloadError) {
    guard let url = URL(string: text), let host = url.host, !host.isEmpty, url.user == nil,
      url.fragment == nil
    else {
      throw DownloadError(
        reason: "is not a URL without user and fragment; write https://HOST/PATH")
    }
    switch url.scheme?.lowercased() {
    case "https": break
    case "http" where ["127.0.0.1", "localhost", "::1", "[::1]"].contains(host): break
    default:
      throw DownloadError(
        reason: "must begin with https://; http:// is for addresses of this machine only")
    }
    description = text
    self.url = url
  }
}
