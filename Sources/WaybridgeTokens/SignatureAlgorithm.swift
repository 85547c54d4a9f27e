import WayCrypto

/// A signature algorithm, implemented by OpenSSL's libcrypto.
enum SignatureAlgorithm: Sendable {
  /// HMAC with SHA-256 (RFC 7518 §3.2), with a shared secret.
  case hs256(secret: MessageAuthenticationKey)
  /// Ed25519 (RFC 8032, RFC 8037 §3.1), which can only verify.
  case ed25519(publicKey: PublicKey)
  /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 §3.3), which can only verify.
  case rs256(publicKey: PublicKey)
  /// ECDSA with P-256 and SHA-256 (RFC 7518 §3.4), which can only verify.
  case es256(publicKey: PublicKey)

  /// The value of a token's `alg`.
  var name: String {
    switch self {
    case .hs256: "HS256"
    case .ed25519: "EdDSA"
    case .rs256: "RS256"
    case .es256: "ES256"
    }
  }

  /// See ``TokenKey/fingerprint``.
  var fingerprint: [UInt8] {
    switch self {
    case .hs256: Array((signature(of: Array("fingerprint".utf8)) ?? []).prefix(4))
    // The end of the DER encoding is the key itself (RFC 8410 §4).
    case .ed25519(let publicKey): Array(publicKey.bytes.suffix(PublicKey.ed25519Bytes))
    case .rs256(let publicKey), .es256(let publicKey): publicKey.bytes
    }
  }

  /// Returns the signature of some bytes; nil if this cannot sign, or memory is short.
  func signature(of bytes: [UInt8]) -> [UInt8]? {
    guard case .hs256(let secret) = self else { return nil }
    return secret.code(of: bytes)
  }

  /// Returns whether a signature matches some bytes. Takes the same time for wrong and right ones.
  func verifies(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
    switch self {
    case .hs256(let secret): return secret.verifies(signature, of: bytes)
    case .ed25519(let publicKey), .rs256(let publicKey):
      return publicKey.verifies(signature, of: bytes)
    case .es256(let publicKey): return publicKey.verifiesPair(signature, of: bytes)
    }
  }
}
