/// A URI or relative reference, as RFC 3986 §4.1 has them:
/// `scheme:[//authority]path[?query][#fragment]`.
///
/// The text is checked once and kept; the parts are cut from it when asked for, as written.
/// Two are equal when their texts are; compare the ``normalized`` ones for equivalence.
public struct RouteURI: Sendable, Hashable, CustomStringConvertible {
  /// The longest text, in bytes.
  public static let maxLength = 65_536
  /// How many path segments are matched at most; a longer path is a ``RouteURIError``.
  public static let maxSegments = 256
  /// How many parameters a query is split into at most.
  public static let maxParameters = 256

  /// The whole text, ASCII only.
  public let text: String
  let parts: RouteURIParts

  /// Reads a text strictly: everything that RFC 3986 does not allow is an error.
  public init(_ text: String) throws(RouteURIError) {
    var text = text
    text.makeContiguousUTF8()
    parts = try RouteURIParts(text.utf8.span)
    self.text = text
  }

  /// As ``init(_:)-(String)``, for a part of a text; throws as it does.
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

  /// Whether it has a scheme; a relative reference has none.
  package var hasScheme: Bool { parts.schemeEnd >= 0 }

  /// Whether it has a query, though it may be empty.
  package var hasQuery: Bool { parts.queryEnd >= 0 }

  /// The text up to the query or fragment.
  package var withoutQuery: String { slice(0, Int(parts.pathEnd)) }

  /// What stands before the first `:`; nil for a relative reference.
  public var scheme: String? {
    parts.schemeEnd < 0 ? nil : slice(0, parts.schemeEnd)
  }

  /// What stands between `//` and the path; empty in `file:///x`, nil without `//`.
  public var authority: String? {
    parts.hasAuthority ? slice(parts.authorityStart, parts.authorityEnd) : nil
  }

  /// What stands before the `@` of the authority.
  public var userinfo: String? {
    parts.hostStart > parts.authorityStart
      ? slice(parts.authorityStart, parts.hostStart - 1) : nil
  }

  /// The host with the brackets of an IP literal; nil without an authority.
  public var host: String? {
    parts.hasAuthority ? slice(parts.hostStart, parts.hostEnd) : nil
  }

  /// The port, 0…65535; nil where it is absent or empty (`http://h:/`).
  public var port: Int? { parts.port < 0 ? nil : Int(parts.port) }

  /// The path, not decoded.
  public var path: String { slice(parts.pathStart, parts.pathEnd) }

  /// What stands after `?`, not decoded; empty in `a?`, nil without `?`.
  public var query: String? {
    parts.queryEnd < 0 ? nil : slice(parts.pathEnd + 1, parts.queryEnd)
  }

  /// What stands after `#`, not decoded; nil without `#`.
  public var fragment: String? {
    parts.fragmentStart < 0 ? nil : slice(parts.fragmentStart, Int32(text.utf8.count))
  }

  private func slice(_ start: Int32, _ end: Int32) -> String { slice(Int(start), Int(end)) }

  /// The bytes from `start` to `end` as they are.
  func slice(_ start: Int, _ end: Int) -> String {
    let bytes = text.utf8
    let from = bytes.index(bytes.startIndex, offsetBy: start)
    return String(Substring(bytes[from..<bytes.index(from, offsetBy: end - start)]))
  }
}
