import WayRPC
import Waybridge

/// A token that was parsed (RFC 7515 §7.1, JWS Compact Serialization) but not verified: its author
/// is not known.
///
/// Stricter than many readers of the standard: base64url without padding and with the unused bits
/// zero, so that a token has one spelling; no duplicate names in an object; no `crit`.
package struct UnverifiedToken: Sendable {
  /// The largest size of a token in bytes.
  package static let maxLength = 8 << 10
  /// The largest nesting depth of arrays and objects.
  private static let maxDepth = 16

  package let header: ValueObject
  /// `alg`: the algorithm, according to the token.
  let algorithm: String
  /// `kid`: the id of the signing key, according to the token.
  let keyID: String?
  /// The signed bytes: header and claims as in the token, and the dot.
  let signedBytes: [UInt8]
  let signature: [UInt8]
  private let payload: [UInt8]

  package init(_ text: String) throws(TokenError) {
    guard text.utf8.count <= Self.maxLength else {
      throw TokenError(.tooLarge, "a token may have at most \(Self.maxLength) bytes")
    }
    guard !text.utf8.contains(where: { $0 <= 0x20 }) else {
      throw TokenError(.malformed, "a token must not contain spaces or line breaks; remove them")
    }
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3 else {
      throw TokenError(.malformed, "a token must have three parts with dots between them")
    }
    header = try Self.object(Self.bytes(of: parts[0], "header"), "header")
    payload = try Self.bytes(of: parts[1], "claims")
    signature = try Self.bytes(of: parts[2], "signature")
    signedBytes = Array(text.utf8[..<parts[1].endIndex])
    algorithm = try Self.algorithm(of: header)
    keyID = try Self.keyID(of: header)
  }

  /// Whether a key made the signature.
  func isSigned(by key: TokenKey) -> Bool { key.verifies(signature, of: signedBytes) }

  /// Returns the claims. Throws if they are not a JSON object.
  package func claims() throws(TokenError) -> ValueObject {
    try Self.object(payload, "claims")
  }

  /// Parses claims from JSON, as strictly as those of a token; nil if they are invalid.
  package static func claims(json text: String) -> ValueObject? {
    try? object(Array(text.utf8), "claims")
  }

  private static func algorithm(of header: ValueObject) throws(TokenError) -> String {
    guard let algorithm = header["alg"]?.string else {
      throw TokenError(.unsupportedAlgorithm, "the header must have `alg`, a string")
    }
    // RFC 7515 §4.1.11: a reader that does not know a critical extension must reject the token.
    guard header["crit"] == nil else {
      throw TokenError(.malformed, "the header has `crit`, but no extensions are supported")
    }
    return algorithm
  }

  private static func keyID(of header: ValueObject) throws(TokenError) -> String? {
    guard let value = header["kid"] else { return nil }
    guard let id = value.string, Token.isValidText(id) else {
      throw TokenError(
        .unknownKey, "the header's `kid` must be a string of 1 to \(Token.maxTextBytes) bytes")
    }
    return id
  }

  private static func bytes(
    of part: Substring.UTF8View, _ name: String
  ) throws(TokenError) -> [UInt8] {
    guard let bytes = Base64URL.bytes(of: Substring(part)), !bytes.isEmpty else {
      throw TokenError(.malformed, "the \(name) must be base64url without padding, and not empty")
    }
    return bytes
  }

  private static func object(_ bytes: [UInt8], _ name: String) throws(TokenError) -> ValueObject {
    let value = try? JSON.parse(bytes.span.bytes, maxDepth: maxDepth, duplicateNames: .reject)
    guard let object = value?.object else {
      throw TokenError(
        .malformed,
        "the \(name) must be a JSON object without duplicate names, at most \(maxDepth) "
          + "arrays and objects deep")
    }
    return object
  }
}
