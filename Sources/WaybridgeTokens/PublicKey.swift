import CWayCrypto

/// A public key of libcrypto, for RSA, the curve P-256 or Ed25519. It does not change, so that
/// threads may verify with it at the same time (openssl-threads(7)).
final class PublicKey: @unchecked Sendable {
  /// The allowed sizes of an RSA modulus in bits (RFC 7518 §3.3 for the lower one).
  private static let modulusBits = 2048...8192
  /// The size in bytes of a coordinate of P-256.
  private static let coordinateBytes = 32
  /// The size in bytes of a key of Ed25519 (RFC 8032 §5.1.5).
  static let ed25519Bytes = 32

  /// libcrypto's `EVP_PKEY`.
  private let key: OpaquePointer

  private init(_ key: OpaquePointer) { self.key = key }

  deinit { EVP_PKEY_free(key) }

  /// Creates an RSA key from its modulus and exponent, big-endian.
  ///
  /// The modulus must have a size in ``modulusBits`` and be odd. The exponent must be odd, at least
  /// 65537 (FIPS 186-5 §5.4), and have at most 8 bytes, which bounds the time of a verification.
  static func rsa(modulus: [UInt8], exponent: [UInt8]) throws(JSONWebKeyError) -> PublicKey {
    guard modulus.first != 0, exponent.first != 0 else {
      throw JSONWebKeyError("has a number with leading zeros")
    }
    let bits = modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0)
    guard modulusBits.contains(bits) else {
      throw JSONWebKeyError(
        "has a modulus of \(bits) bits; \(modulusBits.lowerBound) to "
          + "\(modulusBits.upperBound) are allowed")
    }
    let value = exponent.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard exponent.count <= 8, value >= 65537, value & 1 == 1, (modulus.last ?? 0) & 1 == 1 else {
      throw JSONWebKeyError("has an unsafe modulus or exponent")
    }
    let (n, e) = (
      BN_bin2bn(modulus, Int32(modulus.count), nil), BN_bin2bn(exponent, Int32(exponent.count), nil)
    )
    let builder = OSSL_PARAM_BLD_new()
    defer {
      OSSL_PARAM_BLD_free(builder)
      BN_free(n)
      BN_free(e)
      ERR_clear_error()
    }
    // The builder refers to the names until the key is created.
    let key = OSSL_PKEY_PARAM_RSA_N.withCString { modulusName in
      OSSL_PKEY_PARAM_RSA_E.withCString { exponentName in
        guard let n, let e, let builder, OSSL_PARAM_BLD_push_BN(builder, modulusName, n) == 1,
          OSSL_PARAM_BLD_push_BN(builder, exponentName, e) == 1
        else { return PublicKey?.none }
        return create("RSA", builder)
      }
    }
    guard let key else { throw JSONWebKeyError("is not an RSA key") }
    return key
  }

  /// Creates a key of the curve P-256 from its point, big-endian coordinates of 32 bytes each. The
  /// point must be on the curve.
  static func p256(x: [UInt8], y: [UInt8]) throws(JSONWebKeyError) -> PublicKey {
    guard x.count == coordinateBytes, y.count == coordinateBytes else {
      throw JSONWebKeyError("has a coordinate that is not of \(coordinateBytes) bytes")
    }
    // SEC 1 §2.3.3: an uncompressed point.
    let point = [0x04] + x + y
    let builder = OSSL_PARAM_BLD_new()
    defer {
      OSSL_PARAM_BLD_free(builder)
      ERR_clear_error()
    }
    // The builder refers to the names and the bytes until the key is created.
    let key = OSSL_PKEY_PARAM_GROUP_NAME.withCString { groupName in
      OSSL_PKEY_PARAM_PUB_KEY.withCString { pointName in
        "P-256".withCString { group in
          point.withUnsafeBytes { bytes in
            guard let builder,
              OSSL_PARAM_BLD_push_utf8_string(builder, groupName, group, 0) == 1,
              OSSL_PARAM_BLD_push_octet_string(
                builder, pointName, bytes.baseAddress, bytes.count) == 1
            else { return PublicKey?.none }
            return create("EC", builder)
          }
        }
      }
    }
    guard let key else { throw JSONWebKeyError("has a point that is not on the curve P-256") }
    return key
  }

  /// Creates a key of Ed25519 from its encoding. libcrypto does not check that it is a point.
  static func ed25519(_ bytes: [UInt8]) throws(JSONWebKeyError) -> PublicKey {
    guard bytes.count == ed25519Bytes,
      let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, bytes, bytes.count)
    else { throw JSONWebKeyError("has an `x` that is not of \(ed25519Bytes) bytes") }
    return PublicKey(key)
  }

  /// Parses a key of Ed25519 as PEM (SubjectPublicKeyInfo, RFC 8410 §4); nil for anything else.
  static func ed25519(pem: String) -> PublicKey? {
    defer { ERR_clear_error() }
    return Array(pem.utf8).withUnsafeBytes { text in
      // The source refers to the text until it is freed.
      let source = BIO_new_mem_buf(text.baseAddress, Int32(text.count))
      defer { BIO_free(source) }
      guard let key = PEM_read_bio_PUBKEY(source, nil, nil, nil).map(PublicKey.init),
        key.isEd25519
      else { return nil }
      return key
    }
  }

  private var isEd25519: Bool { EVP_PKEY_get_id(key) == EVP_PKEY_ED25519 }

  private static func create(_ kind: String, _ builder: OpaquePointer) -> PublicKey? {
    let parameters = OSSL_PARAM_BLD_to_param(builder)
    let context = EVP_PKEY_CTX_new_from_name(nil, kind, nil)
    defer {
      EVP_PKEY_CTX_free(context)
      OSSL_PARAM_free(parameters)
    }
    var created: OpaquePointer?
    guard let parameters, let context, EVP_PKEY_fromdata_init(context) == 1,
      EVP_PKEY_fromdata(context, &created, way_evp_pkey_public_key, parameters) == 1, let created
    else { return nil }
    let key = PublicKey(created)
    let check = EVP_PKEY_CTX_new_from_pkey(nil, created, nil)
    defer { EVP_PKEY_CTX_free(check) }
    guard let check, EVP_PKEY_public_check(check) == 1 else { return nil }
    return key
  }

  /// The key as DER (SubjectPublicKeyInfo, RFC 5280 §4.1).
  var bytes: [UInt8] {
    var encoded: UnsafeMutablePointer<UInt8>?
    let count = i2d_PUBKEY(key, &encoded)
    defer { CRYPTO_free(encoded, nil, 0) }
    guard let encoded, count > 0 else { return [] }
    return Array(UnsafeBufferPointer(start: encoded, count: Int(count)))
  }

  /// Returns whether a signature in libcrypto's form matches some bytes: with SHA-256, except for
  /// Ed25519. RSA pads as in RSASSA-PKCS1-v1_5 (RFC 8017 §8.2).
  func verifies(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
    let digest = isEd25519 ? nil : EVP_sha256()
    let context = EVP_MD_CTX_new()
    defer {
      EVP_MD_CTX_free(context)
      // The error is not needed, and must not be reported by a later operation.
      ERR_clear_error()
    }
    guard let context, EVP_DigestVerifyInit(context, nil, digest, nil, key) == 1 else {
      return false
    }
    return EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1
  }

  /// Returns whether an ECDSA signature matches some bytes, with SHA-256. It consists of r and s,
  /// big-endian numbers of 32 bytes each (RFC 7518 §3.4).
  func verifiesPair(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
    let half = Self.coordinateBytes
    guard signature.count == 2 * half, let pair = ECDSA_SIG_new() else { return false }
    defer {
      ECDSA_SIG_free(pair)
      ERR_clear_error()
    }
    let r = BN_bin2bn(Array(signature[..<half]), Int32(half), nil)
    let s = BN_bin2bn(Array(signature[half...]), Int32(half), nil)
    guard let r, let s, ECDSA_SIG_set0(pair, r, s) == 1 else {
      BN_free(r)
      BN_free(s)
      return false
    }
    var encoded: UnsafeMutablePointer<UInt8>?
    let count = i2d_ECDSA_SIG(pair, &encoded)
    defer { CRYPTO_free(encoded, nil, 0) }
    guard let encoded, count > 0 else { return false }
    return verifies(Array(UnsafeBufferPointer(start: encoded, count: Int(count))), of: bytes)
  }
}
