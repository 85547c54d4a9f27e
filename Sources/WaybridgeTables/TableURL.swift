import Foundation
import Waybridge

/// The address of a table: `https`, or `http` on this machine's loopback.
public struct TableURL: Sendable, Hashable, CustomStringConvertible {
  /// The address as it was given, without a fragment.
  public let description: String
  let url: URL

  /// Throws `TableError` for an invalid URL.
  public init(_ text: String) throws(TableError) {
    let name = "The table URL \(text.prefix(200))"
    guard let url = URL(string: text), let host = url.host, !host.isEmpty, url.user == nil,
      url.fragment == nil
    else {
      throw TableError(
        .unreadable, "\(name) is not a URL without user and fragment; write https://HOST/PATH")
    }
    switch url.scheme?.lowercased() {
    case "https": break
    case "http" where ["127.0.0.1", "localhost", "::1", "[::1]"].contains(host): break
    default:
      throw TableError(
        .unreadable,
        "\(name) must begin with https://; http:// is for addresses of this machine only")
    }
    description = text
    self.url = url
  }

  /// Whether a string is a URL, and not the path of a file.
  public static func hasURLScheme(in text: String) -> Bool {
    let text = text.lowercased()
    return text.hasPrefix("https://") || text.hasPrefix("http://")
  }
}
