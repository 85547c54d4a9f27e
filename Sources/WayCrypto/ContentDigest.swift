import CWayCrypto

/// The SHA-256 digest of bytes that arrive in parts, computed by OpenSSL's libcrypto. Not thread-safe.
package final class ContentDigest {
  /// Nil if memory was short, or the digest has ended.
  private var context: OpaquePointer?

  /// Begins a digest of no bytes.
  package init() {
    guard let created = EVP_MD_CTX_new() else { return }
    if EVP_DigestInit_ex(created, EVP_sha256(), nil) == 1 {
      context = created
    } else {
      EVP_MD_CTX_free(created)
    }
  }

  deinit { EVP_MD_CTX_free(context) }

  package func update(_ bytes: [UInt8]) {
    guard let context else { return }
    if EVP_DigestUpdate(context, bytes, bytes.count) != 1 { discard() }
  }

  /// Ends the digest and returns it in hexadecimal digits; nil if memory was short.
  package func finish() -> String? {
    guard let context else { return nil }
    defer { discard() }
    var digest = [UInt8](repeating: 0, count: 32)
    guard EVP_DigestFinal_ex(context, &digest, nil) == 1 else { return nil }
    let digits = Array("0123456789abcdef".utf8)
    let text = digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return String(decoding: text, as: UTF8.self)
  }

  private func discard() {
    EVP_MD_CTX_free(context)
    context = nil
  }
}
