/// Why a token is not taken. Says what is wrong and holds nothing of the token, so that it may be
/// told to the peer and logged.
public struct TokenError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of thing is wrong.
  public enum Kind: Sendable, Hashable {
    /// The token, or what it holds, is larger than tokens may be.
    case tooLarge
    /// The text is no token.
    case malformed
    /// It is signed in a way that no key here is for, or not signed.
    case algorithm
    /// It names a key that is not here.
    case unknownKey
    /// Its signature is not one of the keys here.
    case signature
    /// A claim is missing, or is not what it must be; with the claim's name.
    case claim(String)
    /// It has ended (`exp`).
    case expired
    /// It has not begun (`nbf`).
    case notYetValid
  }

  /// What kind of thing is wrong.
  public let kind: Kind
  /// What is wrong, for people.
  public let description: String

  init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }

  static func claim(_ name: String, _ fault: String) -> TokenError {
    TokenError(.claim(name), "`\(name)` \(fault)")
  }
}
