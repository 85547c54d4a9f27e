import WayRPC
import Waybridge

/// A token that was taken apart (RFC 7515 §7.1, JWS Compact Serialization) and nothing more: who
/// has written it is not known.
///
/// Stricter than the standard's readers often are: base64url without padding and with the unused
/// bits zero, so that a token has one spelling; no name twice in an object; no `crit`.
package struct UnverifiedToken: Sendable {
  /// The most bytes of a token.
  package static let maxLength = 8 << 10
  /// The most arrays and objects within one another.
  private static let maxDepth = 16

  package let header: ValueObject
  /// `alg`: the way in which it says it is signed.
  let algorithm: String
  /// `kid`: the key that it says it is signed with.
  let keyID: String?
  /// What the signature is of: header and claims as they stand in the token, and the dot.
  let signed: [UInt8]
  let signature: [UInt8]
  private let payload: [UInt8]

  package init(_ text: String) throws(TokenError) {
    guard text.utf8.count <= Self.maxLength else {
      throw TokenError(.tooLarge, "a token has at most \(Self.maxLength) bytes")
    }
    guard !text.utf8.contains(where: { $0 <= 0x20 }) else {
      throw TokenError(.malformed, "a token has no spaces and line ends: leave them out")
    }
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3 else {
      throw TokenError(.malformed, "a token has three parts with dots between them")
    }
    header = try Self.object(Self.bytes(of: parts[0], "header"), "header")
    payload = try Self.bytes(of: parts[1], "claims")
    signature = try Self.bytes(of: parts[2], "signature")
    signed = Array(text.utf8[..<parts[1].endIndex])
    algorithm = try Self.algorithm(of: header)
    keyID = try Self.keyID(of: header)
  }

  /// The claims. Throws where they are no JSON object.
  package func claims() throws(TokenError) -> ValueObject {
    try Self.object(payload, "claims")
  }

  /// The claims that a JSON text is, as strict as those of a token; nil where it is none.
  package static func claims(json text: String) -> ValueObject? {
    try? object(Array(text.utf8), "claims")
  }

  private static func algorithm(of header: ValueObject) throws(TokenError) -> String {
    guard let algorithm = header["alg"]?.string else {
      throw TokenError(.algorithm, "the header must have `alg`, a string")
    }
    // RFC 7515 §4.1.11: who does not know what is critical must refuse the token.
    guard header["crit"] == nil else {
      throw TokenError(.malformed, "the header has `crit`, and no extension is known here")
    }
    return algorithm
  }

  private static func keyID(of header: ValueObject) throws(TokenError) -> String? {
    guard let value = header["kid"] else { return nil }
    guard let id = value.string, Token.isTaken(id) else {
      throw TokenError(
        .unknownKey, "the header's `kid` must be a string of 1 to \(Token.maxText) bytes")
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
    let value = try? JSON.parse(bytes.span.bytes, maxDepth: maxDepth, names: .differ)
    guard let object = value?.object else {
      throw TokenError(
        .malformed,
        "the \(name) must be a JSON object in which no name comes twice, at most \(maxDepth) "
          + "arrays and objects deep")
    }
    return object
  }
}
