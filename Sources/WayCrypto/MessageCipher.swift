import CWayCrypto

/// Encrypts and authenticates messages with AES-256 in Galois/Counter Mode (NIST SP 800-38D),
/// computed by OpenSSL's libcrypto.
package struct MessageCipher: Sendable {
  /// The length of a key in bytes.
  package static let keyLength = 32
  /// The length of a nonce in bytes.
  package static let nonceLength = 12
  /// By how many bytes a sealed message is longer than the message.
  package static let tagLength = 16

  private let key: [UInt8]

  /// Creates a cipher; nil if the key does not have ``keyLength`` bytes.
  package init?(key: [UInt8]) {
    guard key.count == Self.keyLength else { return nil }
    self.key = key
  }

  /// Encrypts a message. The result also authenticates `context`, which it does not contain. A
  /// nonce has ``nonceLength`` bytes, and must not be used twice with one key. Returns nil if the
  /// nonce has another length, or memory is short.
  package func seal(_ message: [UInt8], nonce: [UInt8], context: [UInt8]) -> [UInt8]? {
    guard let operation = begin(encrypts: true, nonce, context) else { return nil }
    defer { EVP_CIPHER_CTX_free(operation) }
    var sealed = [UInt8](repeating: 0, count: message.count + Self.tagLength)
    var count: Int32 = 0
    let isSealed = sealed.withUnsafeMutableBufferPointer { sealed in
      guard let start = sealed.baseAddress else { return false }
      let end = start + message.count
      return EVP_EncryptUpdate(operation, start, &count, message, Int32(message.count)) == 1
        && EVP_EncryptFinal_ex(operation, end, &count) == 1
        && EVP_CIPHER_CTX_ctrl(operation, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagLength), end) == 1
    }
    return isSealed ? sealed : nil
  }

  /// Returns the message that was sealed with the same key, nonce and context; nil if there is
  /// none.
  package func open(_ sealed: ArraySlice<UInt8>, nonce: [UInt8], context: [UInt8]) -> [UInt8]? {
    guard sealed.count >= Self.tagLength,
      let operation = begin(encrypts: false, nonce, context)
    else { return nil }
    defer { EVP_CIPHER_CTX_free(operation) }
    var tag = Array(sealed.suffix(Self.tagLength))
    let encrypted = Array(sealed.dropLast(Self.tagLength))
    // The end of a message may need a byte more.
    var message = [UInt8](repeating: 0, count: encrypted.count + 1)
    var count: Int32 = 0
    let isOpened = message.withUnsafeMutableBufferPointer { message in
      guard let start = message.baseAddress else { return false }
      return EVP_DecryptUpdate(operation, start, &count, encrypted, Int32(encrypted.count)) == 1
        && EVP_CIPHER_CTX_ctrl(operation, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagLength), &tag) == 1
        && EVP_DecryptFinal_ex(operation, start + encrypted.count, &count) == 1
    }
    guard isOpened else { return nil }
    message.removeLast()
    return message
  }

  /// Returns random bytes for nonces, from the system's cryptographic generator.
  package static func randomBytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }

  /// Begins an operation that authenticates `context`; the caller frees it. Returns nil if the nonce
  /// has another length, or memory is short.
  private func begin(encrypts: Bool, _ nonce: [UInt8], _ context: [UInt8]) -> OpaquePointer? {
    guard nonce.count == Self.nonceLength, let operation = EVP_CIPHER_CTX_new() else { return nil }
    var count: Int32 = 0
    guard
      EVP_CipherInit_ex(operation, EVP_aes_256_gcm(), nil, key, nonce, encrypts ? 1 : 0) == 1,
      EVP_CipherUpdate(operation, nil, &count, context, Int32(context.count)) == 1
    else {
      EVP_CIPHER_CTX_free(operation)
      return nil
    }
    return operation
  }
}
