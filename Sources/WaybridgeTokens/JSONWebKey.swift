import Waybridge

/// The reason why a key set, or one of its keys, is not used.
struct JSONWebKeyError: Error, Sendable, Hashable {
  /// The end of a sentence that begins with the key: "has no `kty`".
  let reason: String

  init(_ reason: String) { self.reason = reason }
}

/// Reads one key of a key set (JWK, RFC 7517 §4, RFC 7518 §6, RFC 8037 §2).
///
/// The type of the key decides its algorithm: RS256 for RSA, ES256 for P-256 and EdDSA for Ed25519.
struct JSONWebKey {
  private let members: ValueObject

  init(_ members: ValueObject) { self.members = members }

  /// Returns the key. Throws if it is for another purpose, or is not a safe public key.
  func tokenKey() throws(JSONWebKeyError) -> TokenKey {
    guard let kind = members["kty"]?.string else { throw JSONWebKeyError("has no `kty`") }
    // A shared secret does not belong in a public document.
    guard kind != "oct" else { throw JSONWebKeyError("is a symmetric key (oct)") }
    guard members["d"] == nil else { throw JSONWebKeyError("contains a private key") }
    let id = try keyID()
    try checkPurpose()
    let algorithm: SignatureAlgorithm
    switch kind {
    case "RSA":
      algorithm = .rs256(
        publicKey: try .rsa(modulus: try bytes("n"), exponent: try bytes("e")))
    case "EC":
      try checkCurve("P-256")
      algorithm = .es256(publicKey: try .p256(x: try bytes("x"), y: try bytes("y")))
    case "OKP":
      try checkCurve("Ed25519")
      let key = try bytes("x")
      let publicKey = try PublicKey.ed25519(key)
      guard !SmallOrderPoint.contains(key) else {
        throw JSONWebKeyError("has an `x` of a point with a small order")
      }
      algorithm = .ed25519(publicKey: publicKey)
    default: throw JSONWebKeyError("has an unknown `kty`")
    }
    if let name = members["alg"] {
      guard name == .string(algorithm.name) else {
        throw JSONWebKeyError("has an `alg` other than \(algorithm.name)")
      }
    }
    return TokenKey(algorithm, id: id)
  }

  private func keyID() throws(JSONWebKeyError) -> String? {
    guard let value = members["kid"] else { return nil }
    guard let id = value.string, Token.isValidText(id) else {
      throw JSONWebKeyError("has a `kid` that is not a string of 1 to \(Token.maxTextBytes) bytes")
    }
    return id
  }

  private func checkPurpose() throws(JSONWebKeyError) {
    if let use = members["use"], use != "sig" {
      throw JSONWebKeyError("has a `use` other than sig")
    }
    if let operations = members["key_ops"] {
      guard let operations = operations.array, operations.contains("verify") else {
        throw JSONWebKeyError("has a `key_ops` without verify")
      }
    }
  }

  private func checkCurve(_ name: String) throws(JSONWebKeyError) {
    guard members["crv"] == .string(name) else {
      throw JSONWebKeyError("has a `crv` other than \(name)")
    }
  }

  private func bytes(_ name: String) throws(JSONWebKeyError) -> [UInt8] {
    guard let text = members[name]?.string, let bytes = Base64URL.bytes(of: Substring(text)),
      !bytes.isEmpty
    else { throw JSONWebKeyError("has no `\(name)` in base64url without padding") }
    return bytes
  }
}
