/// A key with the one way of signing that it is for: nothing in a token decides how its signature
/// is checked (RFC 8725 §3.1).
struct TokenKey: Sendable {
  /// The bytes that a secret has at the least: as many as the hash (RFC 7518 §3.2).
  static let minSecret = 32

  /// What a token's `kid` names it by; nil where it has no name, and serves for any.
  let id: String?
  private let signing: SignatureAlgorithm

  /// `HS256` or `EdDSA`.
  var algorithmName: String { signing.name }

  /// A secret for HS256, of at least ``minSecret`` bytes.
  init(secret: [UInt8], id: String?) {
    signing = .hs256(secret: secret)
    self.id = id
  }

  /// A public key for EdDSA on the curve Ed25519 (RFC 8037), as PEM; nil for anything else.
  init?(publicPEM pem: String, id: String?) {
    guard let signing = SignatureAlgorithm(publicPEM: pem) else { return nil }
    self.signing = signing
    self.id = id
  }

  /// Nil where the key does not sign.
  func sign(_ bytes: [UInt8]) -> [UInt8]? { signing.signature(of: bytes) }

  /// Whether a signature is this key's. Takes as long for a wrong one as for a right one.
  func verifies(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
    signing.verifies(signature, of: bytes)
  }
}
