import CWayCrypto
import Foundation
import TestSupport
import Testing
import Waybridge
import WaybridgeTokens

/// The time that tests use, and tokens of any form.
enum TokenMaker {
  /// The time in seconds since 1970.
  static let now: Int64 = 1_800_000_000

  static let secret = "a secret of at least 32 bytes, in a file"

  /// Claims that are accepted, and a token's header.
  static let claims =
    #"{"sub":"ada","groups":["editors","staff"],"aud":"waybridge","exp":1800000060}"#
  static let header = #"{"alg":"HS256","typ":"JWT"}"#

  static func rules(at seconds: Int64 = now) -> TokenRules {
    TokenRules(now: { seconds * 1_000 })
  }

  static func base64URL(_ text: String) -> String {
    Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      .replacing("=", with: "")
  }

  /// Returns a token of these parts, signed with a secret, whatever its header says.
  static func token(
    header: String = header, claims: String = claims, secret: String = secret
  ) throws -> String {
    try token(header: header, claims: claims, key: SigningKey(secret: secret))
  }

  static func token(
    header: String, claims: String = claims, key: SigningKey
  ) throws -> String {
    let signed = base64URL(header) + "." + base64URL(claims)
    let signature = Data(try #require(key.sign(Array(signed.utf8))))
    return signed + "."
      + signature.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      .replacing("=", with: "")
  }

  /// Returns a signing key and its public key as PEM.
  static func keyPair() throws -> (key: SigningKey, pem: String) { try SigningKey.keyPair() }
}

/// A signature algorithm with its key, implemented by OpenSSL's libcrypto.
struct SigningKey: Sendable {
  /// Returns the signature of some bytes; `nil` if there can be none.
  let sign: @Sendable ([UInt8]) -> [UInt8]?

  /// HMAC with SHA-256.
  init(secret: String) {
    sign = { bytes in
      var signature = [UInt8](repeating: 0, count: 32)
      let key = Array(secret.utf8)
      let made = HMAC(EVP_sha256(), key, Int32(key.count), bytes, bytes.count, &signature, nil)
      return made == nil ? nil : signature
    }
  }

  private init(_ sign: @escaping @Sendable ([UInt8]) -> [UInt8]?) {
    self.sign = sign
  }

  /// Returns a new Ed25519 key and its public key as PEM.
  static func keyPair() throws -> (key: SigningKey, pem: String) {
    let seed = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
    let pair = try #require(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count))
    defer { EVP_PKEY_free(pair) }
    var publicKey = [UInt8](repeating: 0, count: 32)
    var count = publicKey.count
    try #require(EVP_PKEY_get_raw_public_key(pair, &publicKey, &count) == 1)
    // RFC 8410 §4: the algorithm 1.3.101.112, and a bit string of 32 bytes.
    let head: [UInt8] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00]
    let text = Data(head + publicKey).base64EncodedString()
    let pem = "-----BEGIN PUBLIC KEY-----\n\(text)\n-----END PUBLIC KEY-----\n"
    let key = SigningKey { bytes in
      let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count)
      let context = EVP_MD_CTX_new()
      defer {
        EVP_MD_CTX_free(context)
        EVP_PKEY_free(key)
      }
      var signature = [UInt8](repeating: 0, count: 64)
      var count = signature.count
      guard EVP_DigestSignInit(context, nil, nil, nil, key) == 1,
        EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1
      else { return nil }
      return signature
    }
    return (key, pem)
  }
}
