import TestSupport
import Testing
import Waybridge
import WaybridgeTokens

/// Valid and forged tokens of a key.
struct SignatureTests {
  private let folder: TestFolder
  private let secret: String

  init() throws {
    folder = try TestFolder()
    secret = try folder.write(TokenMaker.secret + "\n", to: "secret", time: 1)
  }

  private func keys(_ files: TokenKeyFile...) async throws -> TokenKeys {
    try await TokenKeys.load(files, rules: TokenMaker.rules())
  }

  private func fault(of token: String, _ keys: TokenKeys) async -> TokenError? {
    do {
      _ = try await keys.verify(token)
      return nil
    } catch {
      let text = error.description
      #expect(token.split(separator: ".").allSatisfy { $0.count < 8 || !text.contains($0) })
      return error
    }
  }

  /// RFC 7515 A.1, with the signature and the key (A.1.1) of the RFC: an independent result. It
  /// lacks `sub`.
  @Test func verifiesHS256ExampleOfRFC7515() async throws {
    let key: [UInt8] = [
      3, 35, 53, 75, 43, 15, 165, 188, 131, 126, 6, 101, 119, 123, 166, 143, 90, 179, 40, 230, 240,
      84, 201, 40, 169, 15, 132, 178, 210, 80, 46, 191, 211, 251, 90, 146, 210, 6, 71, 239, 150,
      138, 180, 195, 119, 98, 61, 34, 61, 46, 33, 114, 5, 46, 79, 8, 192, 205, 154, 245, 103, 208,
      128, 163,
    ]
    let token =
      "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0"
      + "dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    let keys = try await keys(.secret(try folder.write(key, to: "rfc")))
    #expect(await fault(of: token, keys)?.kind == .invalidClaim("aud"))
    let other = token.replacing("dBjf", with: "dBjg")
    #expect(await fault(of: other, keys)?.kind == .invalidSignature)
  }

  /// RFC 8037 A.4, with the key of A.2: its payload is not JSON.
  @Test func verifiesEdDSAExampleOfRFC8037() async throws {
    let pem = """
      -----BEGIN PUBLIC KEY-----
      MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=
      -----END PUBLIC KEY-----

      """
    let token =
      "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc."
      + "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
    let keys = try await keys(.publicKeys(try folder.write(pem, to: "pem", time: 1)))
    #expect(await fault(of: token, keys)?.kind == .malformed)
    let other = token.replacing("hgyY", with: "hgyZ")
    #expect(await fault(of: other, keys)?.kind == .invalidSignature)
  }

  @Test func acceptsTokensOfEitherKey() async throws {
    let pair = try TokenMaker.keyPair()
    let pem = try folder.write(pair.pem, to: "pem", time: 1)
    let keys = try await keys(.secret(secret), .publicKeys(pem))
    let tokens = [
      try TokenMaker.token(),
      try TokenMaker.token(header: #"{"alg":"EdDSA"}"#, key: pair.key),
    ]
    for token in tokens { #expect(try await keys.verify(token).subject == "ada") }
  }

  @Test func rejectsSignatureOfAnotherKey() async throws {
    let (pair, stranger) = (try TokenMaker.keyPair(), try TokenMaker.keyPair())
    let pem = try folder.write(pair.pem, to: "pem", time: 1)
    let keys = try await keys(.secret(secret), .publicKeys(pem))
    let tokens = [
      try TokenMaker.token(secret: "another secret of at least 32 bytes, in no file"),
      try TokenMaker.token(header: #"{"alg":"EdDSA"}"#, key: stranger.key),
      // Each key is valid only for its own algorithm.
      try TokenMaker.token(header: #"{"alg":"EdDSA"}"#),
      try TokenMaker.token(header: #"{"alg":"HS256"}"#, key: pair.key),
    ]
    for token in tokens { #expect(await fault(of: token, keys)?.kind == .invalidSignature) }
  }

  @Test func rejectsTokenWithLineEnd() async throws {
    let keys = try await keys(.secret(secret))
    let fault = await fault(of: try TokenMaker.token() + "\n", keys)
    #expect(fault?.kind == .malformed && fault?.description.contains("line breaks") == true)
  }

  @Test func rejectsModifiedClaims() async throws {
    let keys = try await keys(.secret(secret))
    var parts = try TokenMaker.token().split(separator: ".").map(String.init)
    parts[1] = TokenMaker.base64URL(TokenMaker.claims.replacing("ada", with: "eve"))
    #expect(await fault(of: parts.joined(separator: "."), keys)?.kind == .invalidSignature)
  }

  @Test(arguments: [
    "none", "None", "NONE", "nOnE", "", "hs256", "HS384", "HS512", "RS256", "ES256", "EdDSA",
  ])
  func rejectsAlgorithmWithoutKey(name: String) async throws {
    let keys = try await keys(.secret(secret))
    let header = #"{"alg":"\#(name)"}"#
    let signed = try TokenMaker.token(header: header)
    #expect(await fault(of: signed, keys)?.kind == .unsupportedAlgorithm)
    let bare = TokenMaker.base64URL(header) + "." + TokenMaker.base64URL(TokenMaker.claims) + "."
    #expect(await fault(of: bare, keys)?.kind == .malformed)
  }

  /// The attack on verifiers that let the header choose the algorithm: the public key, which is not
  /// secret, used as an HMAC secret.
  @Test func rejectsPublicKeyUsedAsSecret() async throws {
    let pair = try TokenMaker.keyPair()
    let pem = try folder.write(pair.pem, to: "pem", time: 1)
    let keys = try await keys(.publicKeys(pem))
    for text in [pair.pem, String(pair.pem.dropLast())] {
      let token = try TokenMaker.token(secret: text)
      #expect(await fault(of: token, keys)?.kind == .unsupportedAlgorithm)
      let swapped = try TokenMaker.token(header: #"{"alg":"EdDSA"}"#, secret: text)
      #expect(await fault(of: swapped, keys)?.kind == .invalidSignature)
    }
  }

  @Test func rejectsEveryTokenWithoutKeys() async throws {
    let keys = try await keys()
    #expect(await fault(of: try TokenMaker.token(), keys)?.kind == .unsupportedAlgorithm)
  }

  @Test func verifiesTokenOnlyWithNamedKey() async throws {
    let (old, new) = (try TokenMaker.keyPair(), try TokenMaker.keyPair())
    let pem = try folder.write(
      "the keys of the shop\nkid: old\n\(old.pem)kid:new\n\(new.pem)", to: "pem", time: 1)
    let keys = try await keys(.secret(secret, id: "old"), .publicKeys(pem))
    func token(_ kid: String?, _ key: SigningKey) throws -> String {
      let kid = kid.map { #","kid":"\#($0)""# } ?? ""
      return try TokenMaker.token(header: #"{"alg":"EdDSA"\#(kid)}"#, key: key)
    }
    for (kid, key) in [("old", old.key), ("new", new.key), (nil, old.key), (nil, new.key)] {
      #expect(try await keys.verify(token(kid, key)).keyID == kid)
    }
    #expect(await fault(of: try token("new", old.key), keys)?.kind == .invalidSignature)
    for kid in ["older", "", "Old"] {
      #expect(await fault(of: try token(kid, old.key), keys)?.kind == .unknownKey)
    }
    let secretToken = try TokenMaker.token(header: #"{"alg":"HS256","kid":"new"}"#)
    #expect(await fault(of: secretToken, keys)?.kind == .unknownKey)
  }

  @Test func unnamedKeyVerifiesAnyKeyID() async throws {
    let keys = try await keys(.secret(secret))
    let token = try TokenMaker.token(header: #"{"alg":"HS256","kid":"2027"}"#)
    #expect(try await keys.verify(token).keyID == "2027")
  }

  @Test(arguments: [
    "", ".", "..", "...", "a", "a.b", "a.b.c.d", "{}", "Bearer eyJ", "\u{0}", "ü.ü.ü",
    "HEADER.CLAIMS", "HEADER.CLAIMS.", ".CLAIMS.SIGNATURE", "HEADER..SIGNATURE",
    "HEADER.CLAIMS.SIGNATURE.", "HEADER.CLAIMS.SIGNATURE.SIGNATURE",
    " HEADER.CLAIMS.SIGNATURE", "HEADER.CLAIMS.SIGNATURE\n", "HEADER.CLAIMS.SIGNATURE=",
    "HEADER.CLAIMS.SIGN ATURE", "HEADER.CLAIMS=.SIGNATURE", "HEADER.CLAIMS.SIGNATUREAA",
    "HEADER.CLAIMS.+SIGNATURE", "HEADER.CLAIMS./SIGNATURE", "HEADER.CLAIMS.é",
  ])
  func rejectsMalformedTokens(form: String) async throws {
    let keys = try await keys(.secret(secret))
    let parts = try TokenMaker.token().split(separator: ".")
    let token = form.replacing("SIGN ATURE", with: parts[2].prefix(4) + " " + parts[2].dropFirst(4))
      .replacing("HEADER", with: parts[0]).replacing("CLAIMS", with: parts[1])
      .replacing("SIGNATURE", with: parts[2])
    #expect(await fault(of: token, keys)?.kind == .malformed)
  }

  /// 32 bytes are encoded as 43 characters; the last one has two unused bits.
  @Test func rejectsNonCanonicalSignatureEncoding() async throws {
    let keys = try await keys(.secret(secret))
    let token = try TokenMaker.token()
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    let last = try #require(token.last.flatMap { letters.firstIndex(of: $0) })
    #expect(last.isMultiple(of: 4))
    for spare in 1...3 {
      let other = String(token.dropLast()) + String(letters[last + spare])
      #expect(await fault(of: other, keys)?.kind == .malformed)
    }
  }

  @Test(arguments: [
    (#"{"alg":"HS256","alg":"HS256"}"#, TokenMaker.claims, TokenError.TokenErrorKind.malformed),
    (#"{"alg":"HS256","x":{"y":1,"y":1}}"#, TokenMaker.claims, .malformed),
    (TokenMaker.header, #"{"sub":"eve",\#(TokenMaker.claims.dropFirst())"#, .malformed),
    (TokenMaker.header, #"{"x":[{"y":1,"y":1}],\#(TokenMaker.claims.dropFirst())"#, .malformed),
    (TokenMaker.header, "[]", .malformed), (TokenMaker.header, "null", .malformed),
    (TokenMaker.header, "{", .malformed), (TokenMaker.header, "{} {}", .malformed),
    (TokenMaker.header, "\u{FEFF}\(TokenMaker.claims)", .malformed),
    (
      TokenMaker.header,
      #"{"x":\#(String(repeating: "[", count: 16))\#(String(repeating: "]", count: 16))}"#,
      .malformed
    ),
    ("[]", TokenMaker.claims, .malformed), ("7", TokenMaker.claims, .malformed),
    (#""HS256""#, TokenMaker.claims, .malformed), ("{}", TokenMaker.claims, .unsupportedAlgorithm),
    (#"{"alg":null}"#, TokenMaker.claims, .unsupportedAlgorithm),
    (#"{"alg":["HS256"]}"#, TokenMaker.claims, .unsupportedAlgorithm),
    (#"{"alg":"HS256","crit":["b64"],"b64":false}"#, TokenMaker.claims, .malformed),
    (#"{"alg":"HS256","crit":[]}"#, TokenMaker.claims, .malformed),
    (#"{"alg":"HS256","kid":7}"#, TokenMaker.claims, .unknownKey),
    (#"{"alg":"HS256","kid":""}"#, TokenMaker.claims, .unknownKey),
    (
      #"{"alg":"HS256","kid":"\#(String(repeating: "k", count: 257))"}"#, TokenMaker.claims,
      .unknownKey
    ),
  ])
  func rejectsSignedTokenWithInvalidParts(
    header: String, claims: String, kind: TokenError.TokenErrorKind
  ) async throws {
    let keys = try await keys(.secret(secret))
    let token = try TokenMaker.token(header: header, claims: claims)
    #expect(await fault(of: token, keys)?.kind == kind)
  }

  @Test func acceptsTokensUpTo8KiB() async throws {
    let keys = try await keys(.secret(secret))
    func token(_ count: Int) async throws -> String {
      let filler = String(repeating: "x", count: count)
      return try TokenMaker.token(
        claims: #"{"x":"\#(filler)",\#(TokenMaker.claims.dropFirst())"#)
    }
    let small = try await token(0)
    // Three bytes of claims are four characters.
    let room = (8 << 10) - small.utf8.count
    let largest = try await token(room / 4 * 3)
    #expect(largest.utf8.count > (8 << 10) - 4)
    #expect(try await keys.verify(largest).subject == "ada")
    #expect(await fault(of: try token(room / 4 * 3 + 4), keys)?.kind == .tooLarge)
    #expect(await fault(of: String(repeating: "é", count: 100_000), keys)?.kind == .tooLarge)
  }
}
