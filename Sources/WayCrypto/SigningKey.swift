import CWayCrypto

/// A private key for signatures with Ed25519 (RFC 8032), made by OpenSSL's libcrypto.
package struct SigningKey: Sendable {
  /// The length of a seed in bytes.
  package static let seedLength = 32
  /// The length of a signature in bytes.
  private static let signatureLength = 64

  private let seed: [UInt8]

  /// Creates a key from its seed (RFC 8032 §5.1.5); nil if that does not have ``seedLength`` bytes.
  package init?(seed: [UInt8]) {
    guard seed.count == Self.seedLength else { return nil }
    self.seed = seed
  }

  /// Returns the signature of a message; nil if memory is short.
  package func signature(of message: [UInt8]) -> [UInt8]? {
    let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count)
    let context = EVP_MD_CTX_new()
    defer {
      EVP_MD_CTX_free(context)
      EVP_PKEY_free(key)
    }
    var signature = [UInt8](repeating: 0, count: Self.signatureLength)
    var count = signature.count
    guard key != nil, context != nil, EVP_DigestSignInit(context, nil, nil, nil, key) == 1,
      EVP_DigestSign(context, &signature, &count, message, message.count) == 1,
      count == signature.count
    else { return nil }
    return signature
  }
}
