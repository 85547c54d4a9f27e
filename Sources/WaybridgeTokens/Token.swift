import Waybridge

/// The identity of a caller from a token whose signature and claims were verified.
///
/// The names in quotation marks are those of RFC 7519 §4.1; `groups` is specific to Waybridge.
public struct Token: Sendable, Hashable {
  /// The largest size in bytes of a subject, of one group and of a key's id.
  static let maxTextBytes = 256
  /// The largest number of groups of one token.
  static let maxGroups = 128
  /// The approximate limit of the claims' memory in bytes.
  static let maxClaimsBytes = 32 << 10

  /// `sub`: the user that the token identifies; 1 to 256 bytes.
  public let subject: String
  /// `groups`, or the claim ``TokenRules/groupsClaim``: the groups of the user, in the token's order;
  /// at most 128, each of 1 to 256 bytes.
  public let groups: [String]
  /// `exp`: the time from which the token is invalid, in milliseconds since 1970; nil only if
  /// ``TokenRules/requiresExpiry`` is false.
  public let expiresAt: Int64?
  /// `nbf`: the time before which the token is invalid, in milliseconds since 1970.
  public let notBefore: Int64?
  /// `kid`: the id of the signing key, according to the token.
  public let keyID: String?
  /// All claims of the token, including those above.
  public let claims: ValueObject

  /// Reads claims whose signature was verified. Throws ``TokenError`` if one has a wrong type, or
  /// if the token is for another audience or of another issuer. ``TokenRules/check(_:)`` checks the
  /// times.
  init(_ claims: ValueObject, keyID: String?, rules: TokenRules) throws(TokenError) {
    guard Value.object(claims).size <= Self.maxClaimsBytes else {
      throw TokenError(.tooLarge, "the token has too many claims")
    }
    try Self.checkAudience(claims["aud"], contains: rules.audience)
    try Self.checkIssuer(claims["iss"], is: rules.issuer)
    subject = try Self.subject(claims["sub"])
    groups = try Self.groups(
      Self.value(of: rules.groupsClaim, in: claims), named: rules.groupsClaim)
    expiresAt = try Self.time("exp", in: claims)
    notBefore = try Self.time("nbf", in: claims)
    guard expiresAt != nil || !rules.requiresExpiry else {
      throw .invalidClaim("exp", "is missing; a token must have an expiry time")
    }
    self.keyID = keyID
    self.claims = claims
  }

  private static func subject(_ value: Value?) throws(TokenError) -> String {
    guard let value else {
      throw .invalidClaim("sub", "is missing; a token must name its user")
    }
    guard let text = value.string, isValidText(text) else {
      throw .invalidClaim("sub", "must be a string of 1 to \(maxTextBytes) bytes")
    }
    return text
  }

  /// The value of a claim, see ``TokenRules/groupsClaim``.
  private static func value(of claim: String, in claims: ValueObject) -> Value? {
    if let value = claims[claim] { return value }
    let names = claim.split(separator: ".", omittingEmptySubsequences: false)
    return names.reduce(Value?.some(.object(claims))) { $0?.object?[String($1)] }
  }

  private static func groups(_ value: Value?, named name: String) throws(TokenError) -> [String] {
    guard let value else { return [] }
    guard let values = value.array, values.count <= maxGroups else {
      throw .invalidClaim(name, "must be an array of at most \(maxGroups) strings")
    }
    let groups = values.compactMap(\.string).filter(isValidText)
    guard groups.count == values.count else {
      throw .invalidClaim(
        name, "must contain only strings of 1 to \(maxTextBytes) bytes")
    }
    return groups
  }

  /// RFC 7519 §4.1.3: one string, or an array of strings.
  private static func checkAudience(
    _ value: Value?, contains audience: String
  ) throws(TokenError) {
    guard let value else {
      throw .invalidClaim("aud", "is missing; it must be \"\(audience)\"")
    }
    let audiences = value.array ?? [value]
    guard audiences.allSatisfy({ $0.string != nil }) else {
      throw .invalidClaim("aud", "must be a string or an array of strings")
    }
    guard audiences.contains(.string(audience)) else {
      throw .invalidClaim(
        "aud", "does not contain \"\(audience)\"; the token is for another audience")
    }
  }

  /// RFC 7519 §4.1.1, compared exactly.
  private static func checkIssuer(
    _ value: Value?, is issuer: String?
  ) throws(TokenError) {
    guard let issuer else { return }
    guard let value else {
      throw .invalidClaim("iss", "is missing; it must be \"\(issuer)\"")
    }
    // Swift compares strings by canonical equivalence, the RFC by code points.
    guard let text = value.string, text.utf8.elementsEqual(issuer.utf8) else {
      throw .invalidClaim("iss", "is not \"\(issuer)\"; the token is of another issuer")
    }
  }

  private static func time(
    _ name: String, in claims: ValueObject
  ) throws(TokenError) -> Int64? {
    guard let value = claims[name] else { return nil }
    guard let time = time(of: value) else {
      throw .invalidClaim(name, "must be a number of seconds since 1970, before the year 10000")
    }
    return time
  }

  /// Converts a NumericDate (RFC 7519 §2), which counts seconds and may have a fraction, to
  /// milliseconds since 1970. Nil for other values, and for times before 1970 or after the year
  /// 9999.
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

  static func isValidText(_ text: String) -> Bool { (1...maxTextBytes).contains(text.utf8.count) }
}
