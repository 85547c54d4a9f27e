/// The token of a request. A client sends it as `Authorization: Bearer TOKEN` (RFC 6750 §2.1). In a
/// handshake, pages cannot set header fields; they send the subprotocol `bearer.TOKEN`.
///
/// A token in a URL is ignored, because it would appear in logs.
enum AccessBearerToken {
  /// The prefix of the subprotocol.
  static let prefix = "bearer."
  /// Maximum length in bytes.
  static let maximumLength = 4096

  /// The token, or `nil` without one. Throws if there is more than one, or if it is malformed.
  static func read(_ head: RequestHead) throws(HTTPRequestRejection) -> String? {
    let authorizations = head.values("authorization")
    guard authorizations.count <= 1 else {
      throw HTTPRequestRejection(400, "there is more than one Authorization header")
    }
    var tokens = authorizations.compactMap(credentials)
    if head.isUpgrade {
      tokens += head.subprotocols.filter { $0.hasPrefix(prefix) }.map {
        String($0.dropFirst(prefix.count))
      }
    }
    guard tokens.count <= 1 else { throw HTTPRequestRejection(400, "there is more than one token") }
    guard let token = tokens.first else { return nil }
    guard (1...maximumLength).contains(token.utf8.count), isToken(token) else {
      throw HTTPRequestRejection(
        400,
        "a token must have 1 to \(maximumLength) letters, digits and -._~+/, with = only at its end"
      )
    }
    return token
  }

  /// The credentials after the scheme Bearer, in any case; `nil` for another scheme.
  private static func credentials(_ text: String) -> String? {
    let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.first?.lowercased() == "bearer" else { return nil }
    return parts.count == 2 ? parts[1].trimmed() : ""
  }

  /// Whether the text is a b64token (RFC 6750 §2.1).
  private static func isToken(_ text: String) -> Bool {
    let end = text.utf8.lastIndex { $0 != 0x3D }
    guard let end else { return false }
    return text.utf8[...end].allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
      case 0x2B, 0x2D, 0x2E, 0x2F, 0x5F, 0x7E: true
      default: false
      }
    }
  }
}
