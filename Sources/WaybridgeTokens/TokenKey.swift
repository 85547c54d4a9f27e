import WayCrypto

/// A key with the one algorithm that it is for: nothing in a token selects how its signature is
/// verified (RFC 8725 §3.1).
struct TokenKey: Sendable {
  /// The id in a token's `kid`; nil for a key without an id, which applies to any token.
  let id: String?
  private let algorithm: SignatureAlgorithm

  /// `HS256`, `EdDSA`, `RS256` or `ES256`.
  var algorithmName: String { algorithm.name }

  /// Creates a secret for HS256, of at least 32 bytes: the length of the hash (RFC 7518 §3.2).
  init(secret: [UInt8], id: String?) {
    algorithm = .hs256(secret: MessageAuthenticationKey(secret))
    self.id = id
  }

  /// Parses a public key for EdDSA on the curve Ed25519 (RFC 8037), as PEM; nil for anything else.
  init?(publicPEM pem: String, id: String?) {
    guard let publicKey = PublicKey.ed25519(pem: pem) else { return nil }
    algorithm = .ed25519(publicKey: publicKey)
    self.id = id
  }

  /// Creates a key for an algorithm.
  init(_ algorithm: SignatureAlgorithm, id: String?) {
    self.algorithm = algorithm
    self.id = id
  }

  /// Bytes by which a key differs from others: of a secret four that an HMAC with it yields, too few to
  /// find it by, of a public key all.
  var fingerprint: [UInt8] { algorithm.fingerprint }

  /// Returns the signature of bytes; nil if the key cannot sign.
  func sign(_ bytes: [UInt8]) -> [UInt8]? { algorithm.signature(of: bytes) }

  /// Returns whether a signature is this key's. Takes the same time for wrong and right ones.
  func verifies(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
    algorithm.verifies(signature, of: bytes)
  }
}
