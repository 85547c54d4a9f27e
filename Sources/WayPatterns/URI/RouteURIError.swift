/// The reason why a text is no URI, and the position.
public struct RouteURIError: Error, Hashable, CustomStringConvertible {
  /// The kind of fault.
  public enum URIErrorReason: Sendable, Hashable {
    /// Longer than ``RouteURI/maxLength``.
    case tooLong
    /// A byte that RFC 3986 does not allow at its position.
    case invalidCharacter(UInt8)
    /// A byte beyond ASCII, which a URI can only hold percent-encoded.
    case notASCII
    /// A `%` without two hexadecimal digits after it.
    case badPercent
    /// The text before the first colon is no scheme.
    case badScheme
    /// The brackets hold no IPv6 or IPvFuture address, or are not closed.
    case badIPLiteral
    /// The port is beyond 65535.
    case badPort
    /// A relative reference instead of a URI with a scheme.
    case noScheme
    /// A URL of a network host, such as `https:a`, without its host.
    case noHost
    /// The host of a URL is no name in ASCII and no IP address in its usual form.
    case badHost
    /// More path segments than ``RouteURI/maxSegments``.
    case tooManySegments
  }

  /// The kind of fault.
  public let reason: URIErrorReason
  /// The position in the text, in bytes of UTF-8 from 0.
  public let offset: Int

  /// Creates an error at a byte.
  package init(_ reason: URIErrorReason, at offset: Int) {
    self.reason = reason
    self.offset = offset
  }

  public var description: String {
    switch reason {
    case .tooLong: "longer than \(RouteURI.maxLength) bytes"
    case .invalidCharacter(let byte):
      "\(Self.name(of: byte)) is not allowed at byte \(offset); percent-encode it"
    case .notASCII: "a character beyond ASCII at byte \(offset); percent-encode its UTF-8"
    case .badPercent:
      "\"%\" at byte \(offset) needs two hexadecimal digits; a plain \"%\" is \"%25\""
    case .badScheme:
      "no scheme before \":\" (byte \(offset)): a scheme is a letter, then letters, digits, \"+\", "
        + "\"-\", \".\";"
        + " a relative reference whose first segment holds a colon begins with \"./\""
    case .badIPLiteral: "no IP address in the brackets at byte \(offset)"
    case .badPort: "the port at byte \(offset) is beyond 65535"
    case .noScheme: "no scheme; write \"scheme:\" before it"
    case .noHost: "no host at byte \(offset); write \"//\" and a host after the scheme"
    case .badHost:
      "the host at byte \(offset) is no name and no IP address in its usual form; write a name beyond "
        + "ASCII as \"xn--…\", and an IPv4 address as four numbers"
    case .tooManySegments:
      "more than \(RouteURI.maxSegments) path segments (the next begins at byte \(offset))"
    }
  }

  private static func name(of byte: UInt8) -> String {
    byte > 0x20 && byte < 0x7F
      ? "\"\(Character(Unicode.Scalar(byte)))\"" : "the byte 0x" + String(byte, radix: 16)
  }
}
