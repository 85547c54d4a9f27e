import WayRPC
import WayValues
import Waybridge

@testable import WaybridgeTokens

extension FuzzTarget {
  /// Tokens: one is accepted only if a key made its signature, and it has one spelling.
  static let tokens = FuzzTarget("tokens") { bytes throws(FuzzFailure) in
    let text = bytes.text
    guard let token = try? UnverifiedToken(text) else { return }
    try FuzzFailure.unless(
      "\(token.signedBytes.text).\(Base64URL.text(of: token.signature))" == text,
      "it has another spelling")
    _ = try? token.claims()
    guard let keys = TokenFixture.keys, let candidates = try? keys.candidates(for: token) else {
      return
    }
    for key in candidates {
      try FuzzFailure.unless(
        key.algorithmName == token.algorithm, "a key for \(key.algorithmName) may verify it")
      let isSigned = key.sign(token.signedBytes) == token.signature
      try FuzzFailure.unless(
        token.isSigned(by: key) == isSigned, "its signature is judged as \(!isSigned)")
    }
  }

  /// Claims: a token with them is read as they are, and one that is changed after it was signed is
  /// rejected.
  static let claims = FuzzTarget("claims") { bytes throws(FuzzFailure) in
    guard let claims = UnverifiedToken.claims(json: bytes.text), let key = TokenFixture.key,
      let json = try? JSON.text(.object(claims))
    else { return }
    let signed = "\(TokenFixture.header).\(Base64URL.text(of: json.utf8))"
    guard let signature = key.sign(Array(signed.utf8)) else {
      throw FuzzFailure("the claims cannot be signed")
    }
    guard let token = try? UnverifiedToken("\(signed).\(Base64URL.text(of: signature))") else {
      // Only a token that is too long.
      return
    }
    try FuzzFailure.unless(token.isSigned(by: key), "its signature is rejected")
    try FuzzFailure.unless((try? token.claims()) == claims, "its claims are others")
    var changed = signature
    changed[bytes.count % changed.count] ^= 1
    let forged = try? UnverifiedToken("\(signed).\(Base64URL.text(of: changed))")
    try FuzzFailure.unless(forged?.isSigned(by: key) == false, "a changed signature is accepted")
    let rules = TokenRules(groupsClaim: "realm.groups", now: { 1_700_000_000_000 })
    guard let identity = try? Token(claims, keyID: nil, rules: rules) else { return }
    try FuzzFailure.unless(
      (1...256).contains(identity.subject.utf8.count), "a subject without text")
    try FuzzFailure.unless(identity.groups.count <= Token.maxGroups, "too many groups")
    if (try? rules.check(identity)) != nil {
      try FuzzFailure.unless(
        identity.expiresAt.map { $0 > rules.now() } == true, "an expired token is accepted")
    }
  }

  /// Key sets of identity providers: each of their keys is a public one with an algorithm of its own,
  /// and verifies no made-up signature.
  static let keySets = FuzzTarget("key-sets") { bytes throws(FuzzFailure) in
    guard let set = try? JSONWebKeySet(bytes) else { return }
    try FuzzFailure.unless(set.keys.count <= JSONWebKeySet.maxKeys, "\(set.keys.count) keys")
    for key in set.keys {
      try FuzzFailure.unless(
        ["RS256", "ES256", "EdDSA"].contains(key.algorithmName), "a key for \(key.algorithmName)")
      try FuzzFailure.unless(key.sign(bytes) == nil, "a public key signs")
      for count in [0, 1, 64, 256] {
        let isAccepted = key.verifies([UInt8](repeating: 1, count: count), of: bytes)
        try FuzzFailure.unless(!isAccepted, "a signature of \(count) bytes is accepted")
      }
    }
    var all = TokenKeySet(files: 0)
    try? all.replaceProviderKeys(set.keys, of: "https://id.example/keys")
    _ = all.hash
  }

  /// Key files: a private key is never accepted, and a secret is long enough.
  static let keyFiles = FuzzTarget("key-files") { bytes throws(FuzzFailure) in
    if let keys = try? TokenKeyFile.publicKeys("keys.pem").keys(in: bytes) {
      try FuzzFailure.unless(
        !bytes.text.contains("-----BEGIN PRIVATE KEY-----\n")
          || keys.allSatisfy { $0.sign(bytes) == nil }, "a private key is accepted")
      for key in keys {
        try FuzzFailure.unless(
          !key.verifies([UInt8](repeating: 1, count: 64), of: bytes),
          "a made-up signature is accepted")
      }
    }
    if let keys = try? TokenKeyFile.secret("secret").keys(in: bytes) {
      try FuzzFailure.unless(
        bytes.count >= SharedSecret.minLength, "a secret of \(bytes.count) bytes")
      try FuzzFailure.unless(keys.count == 1, "\(keys.count) secrets")
    }
  }
}

/// The keys of the targets.
private struct TokenFixture {
  private static let secret = Array("the secret of the fuzzer, 32 bytes".utf8)
  static let key = try? TokenKeyFile.secret("secret").secretKey(in: secret, id: nil)
  /// `{"alg":"HS256"}`
  static let header = Base64URL.text(of: Array(#"{"alg":"HS256"}"#.utf8))
  static let keys: TokenKeySet? = {
    guard let key, let other = try? TokenKeyFile.secret("secret").secretKey(in: secret, id: "b")
    else { return nil }
    var keys = TokenKeySet(files: 1)
    do { try keys.replace(0, with: [key, other], of: "secret") } catch { return nil }
    return keys
  }()
}
