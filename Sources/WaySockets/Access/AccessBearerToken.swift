/// The token that a request brings: in `Authorization: Bearer TOKEN` (RFC 6750 §2.1), or in a
/// handshake as the subprotocol `bearer.TOKEN`, for pages, which can set no header fields there.
/// One in a URL would stand in logs and is never looked for.
enum AccessBearerToken {
  /// What the subprotocol begins with.
  static let prefix = "bearer."
  /// Bytes, at most.
  static let maximumLength = 4096

  /// Nil where there is none. Throws for more than one, and for what cannot be one.
  static func read(_ head: RequestHead) throws(RequestFault) -> String? {
    let authorizations = head.values("authorization")
    guard authorizations.count <= 1 else {
      throw RequestFault(400, "there is more than one Authorization header")
    }
    var tokens = authorizations.compactMap(credentials)
    if head.isUpgrade {
      tokens += head.subprotocols.filter { $0.hasPrefix(prefix) }.map {
        String($0.dropFirst(prefix.count))
      }
    }
    guard tokens.count <= 1 else { throw RequestFault(400, "there is more than one token") }
    guard let token = tokens.first else { return nil }
    guard (1...maximumLength).contains(token.utf8.count), isToken(token) else {
      throw RequestFault(
        400, "a token has 1 to \(maximumLength) letters, digits and -._~+/, and = at its end")
    }
    return token
  }

  /// What follows the scheme Bearer, whose case does not count; nil for another scheme.
  private static func credentials(_ text: String) -> String? {
    let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.first?.lowercased() == "bearer" else { return nil }
    return parts.count == 2 ? parts[1].trimmed() : ""
  }

  /// b64token of RFC 6750 §2.1.
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
