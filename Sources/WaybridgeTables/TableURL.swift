import Foundation
import Waybridge

/// Where a table is fetched from: `https`, or `http` on this machine's loopback.
public struct TableURL: Sendable, Hashable, CustomStringConvertible {
  /// As it was given, without a fragment.
  public let description: String
  let url: URL

  /// Throws `TableError` for what is no such URL.
  public init(_ text: String) throws(TableError) {
    let name = "The table's address \(text.prefix(200))"
    guard let url = URL(string: text), let host = url.host, !host.isEmpty, url.user == nil,
      url.fragment == nil
    else {
      throw TableError(
        .unreadable, "\(name) is no URL without user and fragment; write https://HOST/PATH")
    }
    switch url.scheme?.lowercased() {
    case "https": break
    case "http" where ["127.0.0.1", "localhost", "::1", "[::1]"].contains(host): break
    default:
      throw TableError(
        .unreadable,
        "\(name) has to begin with https://; http:// is for this machine's own addresses")
    }
    description = text
    self.url = url
  }

  /// Whether a text is meant as a URL, and not as the path of a file.
  public static func isMeant(by text: String) -> Bool {
    let text = text.lowercased()
    return text.hasPrefix("https://") || text.hasPrefix("http://")
  }
}
