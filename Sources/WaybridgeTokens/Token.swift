import Waybridge

/// Who calls, as a token says whose signature and claims were checked.
///
/// The names in quotation marks are those of RFC 7519 §4.1; `groups` is Waybridge's own.
public struct Token: Sendable, Hashable {
  /// The most bytes of a subject, of one group and of a key's id.
  static let maxText = 256
  /// The most groups of one token.
  static let maxGroups = 128
  /// The most bytes of memory that the claims may take, about.
  static let maxClaims = 32 << 10

  /// `sub`: whose the token is; 1 to 256 bytes.
  public let subject: String
  /// `groups`: what its owner belongs to, in the token's order; at most 128, each of 1 to 256
  /// bytes.
  public let groups: [String]
  /// `exp`: from when on the token is no good, in milliseconds since 1970; nil only where
  /// ``TokenRules/requiresExpiry`` is false.
  public let expires: Int64?
  /// `nbf`: before when the token is no good, in milliseconds since 1970.
  public let notBefore: Int64?
  /// `kid`: the key that the token says it is signed with.
  public let keyID: String?
  /// Every claim, those above among them, as the token has them.
  public let claims: ValueObject

  /// Takes claims that are signed. Throws ``TokenError`` where one has a wrong form, or where the
  /// token is for another audience; whether it is time is left to ``TokenRules/check(_:)``.
  init(_ claims: ValueObject, keyID: String?, rules: TokenRules) throws(TokenError) {
    guard Value.object(claims).size <= Self.maxClaims else {
      throw TokenError(.tooLarge, "the token has more claims than are taken")
    }
    try Self.checkAudience(claims["aud"], contains: rules.audience)
    subject = try Self.subject(claims["sub"])
    groups = try Self.groups(claims["groups"])
    expires = try Self.time("exp", in: claims)
    notBefore = try Self.time("nbf", in: claims)
    guard expires != nil || !rules.requiresExpiry else {
      throw .claim("exp", "is missing: a token has to say when it ends")
    }
    self.keyID = keyID
    self.claims = claims
  }

  private static func subject(_ value: Value?) throws(TokenError) -> String {
    guard let value else { throw .claim("sub", "is missing: a token has to say whose it is") }
    guard let text = value.string, isTaken(text) else {
      throw .claim("sub", "must be a string of 1 to \(maxText) bytes")
    }
    return text
  }

  private static func groups(_ value: Value?) throws(TokenError) -> [String] {
    guard let value else { return [] }
    guard let values = value.list, values.count <= maxGroups else {
      throw .claim("groups", "must be an array of at most \(maxGroups) strings")
    }
    let groups = values.compactMap(\.string).filter(isTaken)
    guard groups.count == values.count else {
      throw .claim("groups", "must hold strings of 1 to \(maxText) bytes and nothing else")
    }
    return groups
  }

  /// RFC 7519 §4.1.3: one string, or an array of strings.
  private static func checkAudience(
    _ value: Value?, contains audience: String
  ) throws(TokenError) {
    guard let value else {
      throw .claim("aud", "is missing: a token has to say that it is for \"\(audience)\"")
    }
    let named = value.list ?? [value]
    guard named.allSatisfy({ $0.string != nil }) else {
      throw .claim("aud", "must be a string or an array of strings")
    }
    guard named.contains(.string(audience)) else {
      throw .claim("aud", "does not name \"\(audience)\": the token is for somebody else")
    }
  }

  private static func time(
    _ name: String, in claims: ValueObject
  ) throws(TokenError) -> Int64? {
    guard let value = claims[name] else { return nil }
    guard let time = time(of: value) else {
      throw .claim(name, "must be a number of seconds since 1970, before the year 10000")
    }
    return time
  }

  /// What a NumericDate (RFC 7519 §2) means, in milliseconds since 1970: it counts seconds and may
  /// have a fraction. Nil for other values, and for times before 1970 or after the year 9999.
  package static func time(of value: Value?) -> Int64? {
    let latest = 253_402_300_799.0
    let seconds: Double? =
      switch value {
      case .integer(let seconds): Double(seconds)
      case .number(let seconds): seconds.double
      default: nil
      }
    guard let seconds, (0...latest).contains(seconds) else { return nil }
    return Int64((seconds * 1_000).rounded(.down))
  }

  static func isTaken(_ text: String) -> Bool { (1...maxText).contains(text.utf8.count) }
}
