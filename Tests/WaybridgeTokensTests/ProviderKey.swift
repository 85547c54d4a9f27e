import CWayCrypto
import Foundation
import TestSupport
import Testing

/// A key pair of an identity provider, for RS256 or ES256.
final class ProviderKey: @unchecked Sendable {
  private let key: OpaquePointer
  private let isRSA: Bool

  private init(_ key: OpaquePointer, isRSA: Bool) {
    self.key = key
    self.isRSA = isRSA
  }

  deinit { EVP_PKEY_free(key) }

  /// Generates an RSA key.
  static func rsa(bits: Int32 = 2048) throws -> ProviderKey {
    let context = try #require(EVP_PKEY_CTX_new_id(EVP_PKEY_RSA, nil))
    defer { EVP_PKEY_CTX_free(context) }
    try #require(EVP_PKEY_keygen_init(context) == 1)
    try #require(EVP_PKEY_CTX_set_rsa_keygen_bits(context, bits) == 1)
    return ProviderKey(try generate(context), isRSA: true)
  }

  /// Generates a key of a curve, by default P-256.
  static func ec(curve: Int32 = NID_X9_62_prime256v1) throws -> ProviderKey {
    let context = try #require(EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil))
    defer { EVP_PKEY_CTX_free(context) }
    try #require(EVP_PKEY_keygen_init(context) == 1)
    try #require(EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, curve) == 1)
    return ProviderKey(try generate(context), isRSA: false)
  }

  private static func generate(_ context: OpaquePointer) throws -> OpaquePointer {
    var key: OpaquePointer?
    try #require(EVP_PKEY_generate(context, &key) == 1)
    return try #require(key)
  }

  /// A number of the public key as base64url.
  func number(_ name: String, bytes size: Int? = nil) throws -> String {
    var value: OpaquePointer?
    try #require(EVP_PKEY_get_bn_param(key, name, &value) == 1)
    defer { BN_free(value) }
    let count = size ?? Int((BN_num_bits(value) + 7) / 8)
    var bytes = [UInt8](repeating: 0, count: count)
    try #require(BN_bn2binpad(value, &bytes, Int32(count)) == Int32(count))
    return Self.base64URL(bytes)
  }

  /// The public key as a member of a key set, with further members.
  func jwk(_ members: String = #""kid":"1","use":"sig""#) throws -> String {
    if isRSA {
      return #"{"kty":"RSA","n":"\#(try number("n"))","e":"\#(try number("e"))",\#(members)}"#
    }
    let (x, y) = (try number("qx", bytes: 32), try number("qy", bytes: 32))
    return #"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)",\#(members)}"#
  }

  /// A signature in libcrypto's form: of EC it is DER.
  func sign(_ bytes: [UInt8]) throws -> [UInt8] {
    let context = try #require(EVP_MD_CTX_new())
    defer { EVP_MD_CTX_free(context) }
    try #require(EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1)
    var signature = [UInt8](repeating: 0, count: 1024)
    var count = signature.count
    try #require(EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1)
    return Array(signature.prefix(count))
  }

  /// A token. `edit` changes the signature, which is r and s for EC.
  func token(
    header: String, claims: String, edit: ([UInt8]) -> [UInt8] = { $0 }
  ) throws -> String {
    let signed = TokenMaker.base64URL(header) + "." + TokenMaker.base64URL(claims)
    let signature = try sign(Array(signed.utf8))
    let raw = isRSA ? signature : try Self.pair(signature)
    return signed + "." + Self.base64URL(edit(raw))
  }

  /// r and s of a DER signature, 32 bytes each.
  private static func pair(_ der: [UInt8]) throws -> [UInt8] {
    let signature = try der.withUnsafeBufferPointer { buffer in
      var next = buffer.baseAddress
      return try #require(d2i_ECDSA_SIG(nil, &next, buffer.count))
    }
    defer { ECDSA_SIG_free(signature) }
    var bytes = [UInt8](repeating: 0, count: 64)
    try bytes.withUnsafeMutableBufferPointer { buffer in
      let start = try #require(buffer.baseAddress)
      try #require(BN_bn2binpad(ECDSA_SIG_get0_r(signature), start, 32) == 32)
      try #require(BN_bn2binpad(ECDSA_SIG_get0_s(signature), start + 32, 32) == 32)
    }
    return bytes
  }

  static func base64URL(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      .replacing("=", with: "")
  }
}
