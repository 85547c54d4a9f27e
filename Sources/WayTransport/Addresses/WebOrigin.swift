/// The origin of a page, as in the Origin header (RFC 6454 §7).
package enum WebOrigin: Hashable, Sendable {
  /// `null`, as for a sandboxed frame, a file or a `data:` document.
  case opaque
  /// A scheme, host and port, in lower case. `host` is that of a ``HandshakeAuthority``, or empty if the
  /// scheme has none (`file://`). Without an explicit port, `port` is 80 for `http`, 443 for
  /// `https` and `nil` for other schemes.
  case named(scheme: String, host: String, port: Int?)

  /// Returns `nil` if the text is not one origin, for example a list of several.
  package init?(_ text: String) {
    if text == "null" {
      self = .opaque
      return
    }
    guard let (scheme, rest) = Self.scheme(of: text) else { return nil }
    if rest.isEmpty, Self.defaultPort(scheme) == nil {
      self = .named(scheme: scheme, host: "", port: nil)
      return
    }
    guard let authority = HandshakeAuthority(String(rest)) else { return nil }
    self.init(scheme: scheme, authority)
  }

  /// Creates an origin. `scheme` is in lower case.
  package init(scheme: String, _ authority: HandshakeAuthority) {
    self = .named(
      scheme: scheme, host: authority.host, port: authority.port ?? Self.defaultPort(scheme))
  }

  /// Splits off `SCHEME://`. The scheme (RFC 3986 §3.1) is returned in lower case.
  static func scheme(of text: String) -> (scheme: String, rest: Substring)? {
    guard let mark = text.firstRange(of: "://") else { return nil }
    let scheme = text[..<mark.lowerBound].lowercased()
    guard (1...32).contains(scheme.utf8.count), let first = scheme.utf8.first,
      (0x61...0x7A).contains(first),
      scheme.utf8.allSatisfy({
        (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || [0x2B, 0x2D, 0x2E].contains($0)
      })
    else { return nil }
    return (scheme, text[mark.upperBound...])
  }

  /// The default port of a scheme.
  static func defaultPort(_ scheme: String) -> Int? {
    switch scheme {
    case "http": 80
    case "https": 443
    default: nil
    }
  }
}
