/// A URI or relative reference, as in RFC 3986 §4.1: `scheme:[//authority]path[?query][#fragment]`.
///
/// The text is checked once and stored; the parts are extracted when they are read, not decoded.
/// Two URIs are equal if their texts are; to test for equivalence, compare the ``normalized`` ones.
public struct RouteURI: Sendable, Hashable, CustomStringConvertible {
  /// The maximum length of the text, in bytes.
  public static let maxLength = 65_536
  /// The maximum number of path segments for matching; a longer path is a ``RouteURIError``.
  public static let maxSegments = 256
  /// The maximum number of parameters of a query.
  public static let maxParameters = 256

  /// The whole text, ASCII only.
  public let text: String
  let parts: URIParts

  /// Parses a text strictly: everything that RFC 3986 does not allow is an error.
  public init(_ text: String) throws(RouteURIError) {
    var text = text
    text.makeContiguousUTF8()
    parts = try URIParts(text.utf8.span)
    self.text = text
  }

  /// Parses a part of a text as ``init(_:)-(String)`` does, and throws its errors.
  public init(_ text: some StringProtocol) throws(RouteURIError) {
    try self.init(String(text))
  }

  public var description: String { text }

  public static func == (left: RouteURI, right: RouteURI) -> Bool { left.text == right.text }
  public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension RouteURI {
  /// Whether a text is a scheme (RFC 3986 §3.1).
  package static func isScheme(_ text: String) -> Bool {
    text.utf8.first?.isLetter == true && text.utf8.allSatisfy { URIByteSet.scheme.contains($0) }
  }

  /// Whether the URI has a scheme; a relative reference has none.
  package var hasScheme: Bool { parts.schemeEnd >= 0 }

  /// The URI `scheme://a/b` for `scheme:a/b`, `scheme:/a/b` or `scheme:///a/b`; `nil` for a URI with
  /// an authority or without a path.
  package var withAuthority: RouteURI? {
    guard let scheme, parts.authorityStart == parts.authorityEnd else { return nil }
    let path = slice(Int(parts.pathStart), text.utf8.count).drop { $0 == "/" }
    return path.isEmpty ? nil : try? RouteURI("\(scheme)://\(path)")
  }

  /// Whether the URI has a query, though it may be empty.
  package var hasQuery: Bool { parts.queryEnd >= 0 }

  /// The text up to the query or fragment.
  package var withoutQuery: String { slice(0, Int(parts.pathEnd)) }

  /// The text before the first `:`; `nil` for a relative reference.
  public var scheme: String? {
    parts.schemeEnd < 0 ? nil : slice(0, parts.schemeEnd)
  }

  /// The text between `//` and the path; empty in `file:///x`, `nil` without `//`.
  public var authority: String? {
    parts.hasAuthority ? slice(parts.authorityStart, parts.authorityEnd) : nil
  }

  /// The text before the `@` of the authority.
  public var userinfo: String? {
    parts.hostStart > parts.authorityStart
      ? slice(parts.authorityStart, parts.hostStart - 1) : nil
  }

  /// The host with the brackets of an IP literal; `nil` without an authority.
  public var host: String? {
    parts.hasAuthority ? slice(parts.hostStart, parts.hostEnd) : nil
  }

  /// The port, 0…65535; `nil` if it is absent or empty (`http://h:/`).
  public var port: Int? { parts.port < 0 ? nil : Int(parts.port) }

  /// The path, not decoded.
  public var path: String { slice(parts.pathStart, parts.pathEnd) }

  /// The text after `?`, not decoded; empty in `a?`, `nil` without `?`.
  public var query: String? {
    parts.queryEnd < 0 ? nil : slice(parts.pathEnd + 1, parts.queryEnd)
  }

  /// The text after `#`, not decoded; `nil` without `#`.
  public var fragment: String? {
    parts.fragmentStart < 0 ? nil : slice(parts.fragmentStart, Int32(text.utf8.count))
  }

  private func slice(_ start: Int32, _ end: Int32) -> String { slice(Int(start), Int(end)) }

  /// Returns the unchanged bytes from `start` to `end`.
  func slice(_ start: Int, _ end: Int) -> String {
    let bytes = text.utf8
    let from = bytes.index(bytes.startIndex, offsetBy: start)
    return String(Substring(bytes[from..<bytes.index(from, offsetBy: end - start)]))
  }
}
