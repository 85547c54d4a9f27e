/// The reason why a token is rejected. Contains nothing of the token, so that it may be sent to the
/// peer and logged.
public struct TokenError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kinds of errors.
  public enum TokenErrorKind: Sendable, Hashable {
    /// The token, or its content, is larger than allowed.
    case tooLarge
    /// The string is no token.
    case malformed
    /// No configured key is for the token's algorithm, or the token is not signed.
    case unsupportedAlgorithm
    /// The token has the id of an unknown key.
    case unknownKey
    /// The signature does not match any configured key.
    case invalidSignature
    /// A claim is missing or invalid; with the claim's name.
    case invalidClaim(String)
    /// The token has expired (`exp`).
    case expired
    /// The token is not valid yet (`nbf`).
    case notYetValid
  }

  /// The kind of error.
  public let kind: TokenErrorKind
  /// The description of the error, for output.
  public let description: String

  init(_ kind: TokenErrorKind, _ description: String) {
    self.kind = kind
    self.description = description
  }

  static func invalidClaim(_ name: String, _ fault: String) -> TokenError {
    TokenError(.invalidClaim(name), "`\(name)` \(fault)")
  }
}
