/// The origin of a page, as the header field Origin tells it (RFC 6454 §7).
package enum WebOrigin: Hashable, Sendable {
  /// `null`: a frame in a sandbox, a file, a `data:` document.
  case opaque
  /// All in lower case. `host` is that of an ``Authority``, and empty where the scheme has none
  /// (`file://`); `port` is 80 and 443 where `http` and `https` leave it out, nil where another
  /// scheme does.
  case named(scheme: String, host: String, port: Int?)

  /// Nil for what is no origin, a list of several among it.
  package init?(_ text: String) {
    if text == "null" {
      self = .opaque
      return
    }
    guard let (scheme, rest) = Self.scheme(of: text) else { return nil }
    if rest.isEmpty, Self.usualPort(scheme) == nil {
      self = .named(scheme: scheme, host: "", port: nil)
      return
    }
    guard let authority = Authority(String(rest)) else { return nil }
    self.init(scheme: scheme, authority)
  }

  /// `scheme` is in lower case.
  package init(scheme: String, _ authority: Authority) {
    self = .named(
      scheme: scheme, host: authority.host, port: authority.port ?? Self.usualPort(scheme))
  }

  /// Takes `SCHEME://` off; the scheme (RFC 3986 §3.1) in lower case.
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

  /// The port that goes without saying.
  static func usualPort(_ scheme: String) -> Int? {
    switch scheme {
    case "http": 80
    case "https": 443
    default: nil
    }
  }
}
