import CWayCrypto

/// A key for HMAC with SHA-256 (RFC 2104), computed by OpenSSL's libcrypto.
package struct MessageAuthenticationKey: Sendable, Hashable {
  /// The length of a code in bytes: that of the hash.
  package static let codeLength = 32

  private let bytes: [UInt8]

  /// Creates a key of any length.
  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Returns the code of a message, of ``codeLength`` bytes; nil if memory is short.
  package func code(of message: [UInt8]) -> [UInt8]? {
    var code = [UInt8](repeating: 0, count: Self.codeLength)
    var count: UInt32 = 0
    let digest = HMAC(
      EVP_sha256(), bytes, Int32(bytes.count), message, message.count, &code, &count)
    return digest == nil || count != UInt32(Self.codeLength) ? nil : code
  }

  /// Returns whether a code is that of a message. Takes the same time for wrong and right ones.
  package func verifies(_ code: [UInt8], of message: [UInt8]) -> Bool {
    guard let expected = self.code(of: message), code.count == expected.count else { return false }
    return CRYPTO_memcmp(code, expected, expected.count) == 0
  }
}
