import CWayCrypto

/// A signature algorithm, implemented by OpenSSL's libcrypto.
enum SignatureAlgorithm: Sendable {
  /// HMAC with SHA-256 (RFC 7518 §3.2), with a shared secret.
  case hs256(secret: [UInt8])
  /// Ed25519 (RFC 8032, RFC 8037 §3.1), with a public key of 32 bytes, which can only verify.
  case ed25519(publicKey: [UInt8])

  /// The value of a token's `alg`.
  var name: String {
    switch self {
    case .hs256: "HS256"
    case .ed25519: "EdDSA"
    }
  }

  /// See ``TokenKey/fingerprint``.
  var fingerprint: [UInt8] {
    switch self {
    case .hs256: Array((signature(of: Array("fingerprint".utf8)) ?? []).prefix(4))
    case .ed25519(let publicKey): publicKey
    }
  }

  /// Returns the signature of some bytes; nil if this cannot sign, or memory is short.
  func signature(of bytes: [UInt8]) -> [UInt8]? {
    guard case .hs256(let secret) = self else { return nil }
    var signature = [UInt8](repeating: 0, count: 32)
    var count: UInt32 = 0
    let digest = HMAC(
      EVP_sha256(), secret, Int32(secret.count), bytes, bytes.count, &signature, &count)
    return digest == nil || count != 32 ? nil : signature
  }

  /// Returns whether a signature matches some bytes. Takes the same time for wrong and right ones.
  func verifies(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
    switch self {
    case .hs256:
      guard let expected = self.signature(of: bytes), signature.count == expected.count else {
        return false
      }
      return CRYPTO_memcmp(signature, expected, expected.count) == 0
    case .ed25519(let publicKey):
      let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, publicKey, publicKey.count)
      let context = EVP_MD_CTX_new()
      defer {
        EVP_MD_CTX_free(context)
        EVP_PKEY_free(key)
        // The error is not needed, and must not be reported by a later operation.
        ERR_clear_error()
      }
      guard let key, let context, EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1 else {
        return false
      }
      return EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1
    }
  }

  /// Parses a public key for Ed25519 as PEM (SubjectPublicKeyInfo, RFC 8410 §4); nil for anything
  /// else.
  init?(publicPEM pem: String) {
    let text = Array(pem.utf8)
    let source = BIO_new_mem_buf(text, Int32(text.count))
    let key = PEM_read_bio_PUBKEY(source, nil, nil, nil)
    defer {
      EVP_PKEY_free(key)
      BIO_free(source)
      ERR_clear_error()
    }
    guard let key, EVP_PKEY_get_id(key) == EVP_PKEY_ED25519 else { return nil }
    var bytes = [UInt8](repeating: 0, count: 32)
    var count = bytes.count
    guard EVP_PKEY_get_raw_public_key(key, &bytes, &count) == 1, count == 32 else { return nil }
    self = .ed25519(publicKey: bytes)
  }
}
