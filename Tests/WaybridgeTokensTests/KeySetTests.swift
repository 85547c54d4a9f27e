import CWayCrypto
import Testing
import Waybridge

@testable import WaybridgeTokens

/// Documents with the keys of an identity provider, and signatures of such keys.
struct KeySetTests {
  private static func keySet(_ keys: [String]) throws -> JSONWebKeySet {
    try JSONWebKeySet(Array(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8))
  }

  private func fault(_ document: String) -> String? {
    do throws(JSONWebKeyError) {
      _ = try JSONWebKeySet(Array(document.utf8))
      return nil
    } catch {
      return error.reason
    }
  }

  private static func claims(_ changes: String) -> String {
    #"{"sub":"ada","exp":1800000060,\#(changes)}"#
  }

  /// Verifies a token as `TokenKeys` does, without its times.
  private func verified(
    _ text: String, _ keys: JSONWebKeySet, _ rules: TokenRules = TokenMaker.rules()
  ) throws -> Token {
    var keySet = TokenKeySet(files: 0)
    try keySet.replaceProviderKeys(keys.keys, of: "https://id.example.org/jwks")
    let token = try UnverifiedToken(text)
    let candidates = try keySet.candidates(for: token)
    guard candidates.contains(where: { $0.verifies(token.signature, of: token.signedBytes) }) else {
      throw TokenError(.invalidSignature, "no key made the signature")
    }
    return try Token(try token.claims(), keyID: token.keyID, rules: rules)
  }

  /// RFC 7515 A.2 and A.3: keys and signatures of another source.
  @Test func verifiesExamplesOfRFC7515() throws {
    let rsa =
      #"{"kty":"RSA","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-"#
      + "yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdV"
      + #"MTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ","e":"AQAB"}"#
    let ec =
      #"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#
    let payload =
      ".eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ."
    let tokens = [
      "eyJhbGciOiJSUzI1NiJ9" + payload
        + "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9"
        + "uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB"
        + "_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rq"
        + "Vt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw",
      "eyJhbGciOiJFUzI1NiJ9" + payload
        + "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q",
    ]
    let keys = try Self.keySet([rsa, ec])
    for token in tokens {
      let error = #expect(throws: TokenError.self) { try verified(token, keys) }
      #expect(error?.kind == .invalidClaim("aud"))
      let changed = token.replacing(".eyJpc3MiOiJqb2Ui", with: ".eyJpc3MiOiJqb2Yi")
      #expect(throws: TokenError.self) { try verified(changed, keys) }
    }
  }

  /// Headers and claims as providers write them.
  @Test func acceptsTokensOfProviders() throws {
    let (rsa, ec) = (try ProviderKey.rsa(), try ProviderKey.ec())
    let keys = try Self.keySet([
      try rsa.jwk(#""kid":"r","use":"sig","x5t":"r","x5c":["MIID"]"#),
      try ec.jwk(#""kid":"e","alg":"ES256","key_ops":["verify"]"#),
    ])
    for (key, header, claims, issuer, claim, groups) in [
      (
        rsa, #"{"alg":"RS256","typ":"at+jwt","kid":"r"}"#,
        #""iss":"https://shop.auth0.com/","aud":["waybridge","https://shop.auth0.com/userinfo"],"https://shop.example/roles":["staff"]"#,
        "https://shop.auth0.com/", "https://shop.example/roles", ["staff"]
      ),
      (
        ec, #"{"alg":"ES256","typ":"JWT","kid":"e"}"#,
        #""iss":"https://id.example.org/realms/shop","aud":"waybridge","realm_access":{"roles":["staff","admin"]}"#,
        "https://id.example.org/realms/shop", "realm_access.roles", ["staff", "admin"]
      ),
      (
        rsa, #"{"alg":"RS256","kid":"r","typ":"JWT"}"#,
        #""iss":"https://accounts.google.com","azp":"x","aud":"waybridge","email_verified":true"#,
        "https://accounts.google.com", "groups", []
      ),
      (
        rsa, #"{"typ":"JWT","alg":"RS256","x5t":"r","kid":"r"}"#,
        #""iss":"https://login.microsoftonline.com/7/v2.0","aud":"waybridge","groups":["4f"],"ver":"2.0""#,
        "https://login.microsoftonline.com/7/v2.0", "groups", ["4f"]
      ),
    ] {
      var rules = TokenMaker.rules()
      rules.issuer = issuer
      rules.groupsClaim = claim
      let text = try key.token(header: header, claims: Self.claims(claims))
      #expect(try verified(text, keys, rules).groups == groups)
      for other in [issuer.uppercased(), issuer + "/", String(issuer.dropLast())] {
        rules.issuer = other
        let error = #expect(throws: TokenError.self) { try verified(text, keys, rules) }
        #expect(error?.kind == .invalidClaim("iss"))
      }
    }
  }

  @Test func rejectsOtherFormsOfSignatures() throws {
    let (rsa, ec) = (try ProviderKey.rsa(), try ProviderKey.ec())
    let keys = try Self.keySet([try rsa.jwk(), try ec.jwk()])
    let claims = Self.claims(#""aud":"waybridge""#)
    let zero = [UInt8](repeating: 0, count: 32)
    // The order of P-256 (SEC 2 §2.4.2).
    let order: [UInt8] = [
      255, 255, 255, 255, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 188, 230, 250, 173,
      167, 23, 158, 132, 243, 185, 202, 194, 252, 99, 37, 81,
    ]
    let header = #"{"alg":"ES256","kid":"1"}"#
    #expect(try verified(ec.token(header: header, claims: claims), keys).subject == "ada")
    let signed = TokenMaker.base64URL(header) + "." + TokenMaker.base64URL(claims)
    let der = try ec.sign(Array(signed.utf8))
    for edit: ([UInt8]) -> [UInt8] in [
      { _ in der }, { zero + $0[32...] }, { $0[..<32] + zero }, { _ in zero + zero },
      { order + $0[32...] }, { $0[..<32] + order }, { [0] + $0 }, { $0 + [0] },
      { Array($0.dropLast()) }, { Array($0[32...] + $0[..<32]) },
    ] {
      let text = try ec.token(header: header, claims: claims, edit: edit)
      let error = #expect(throws: TokenError.self) { try verified(text, keys) }
      #expect(error?.kind == .invalidSignature)
    }
    let text = #"{"alg":"RS256","kid":"1"}"#
    #expect(try verified(rsa.token(header: text, claims: claims), keys).subject == "ada")
    for edit: ([UInt8]) -> [UInt8] in [
      { [0] + $0 }, { $0 + [0] }, { Array($0.dropLast()) }, { _ in [1] },
      { $0.map { _ in 0 } }, { Array($0.reversed()) },
    ] {
      let changed = try rsa.token(header: text, claims: claims, edit: edit)
      let error = #expect(throws: TokenError.self) { try verified(changed, keys) }
      #expect(error?.kind == .invalidSignature)
    }
  }

  /// The key decides its algorithm, whatever the token says.
  @Test func rejectsConfusedAlgorithms() throws {
    let (rsa, ec) = (try ProviderKey.rsa(), try ProviderKey.ec())
    let keys = try Self.keySet([
      try rsa.jwk(#""kid":"r""#), try ec.jwk(#""kid":"e""#),
      #"{"kty":"oct","kid":"r","alg":"HS256","k":"\#(try rsa.number("n"))"}"#,
    ])
    #expect(keys.faults == ["key 2 is a symmetric key (oct)"])
    let claims = Self.claims(#""aud":"waybridge""#)
    for (alg, kid, key, kind) in [
      ("ES256", "r", rsa, TokenError.TokenErrorKind.unknownKey), ("RS256", "e", ec, .unknownKey),
      ("RS256", "r", ec, .invalidSignature), ("none", "r", rsa, .unsupportedAlgorithm),
      ("PS256", "r", rsa, .unsupportedAlgorithm), ("RS512", "r", rsa, .unsupportedAlgorithm),
      ("HS256", "r", rsa, .unsupportedAlgorithm), ("rs256", "r", rsa, .unsupportedAlgorithm),
    ] {
      let header = #"{"alg":"\#(alg)","kid":"\#(kid)"}"#
      let text = try key.token(header: header, claims: claims)
      let error = #expect(throws: TokenError.self) { try verified(text, keys) }
      #expect(error?.kind == kind)
    }
    let secret = try TokenMaker.token(
      header: #"{"alg":"HS256","kid":"r"}"#, claims: claims, secret: try rsa.number("n"))
    let error = #expect(throws: TokenError.self) { try verified(secret, keys) }
    #expect(error?.kind == .unsupportedAlgorithm)
  }

  @Test func reportsKeysThatAreNotUsed() throws {
    let (rsa, ec) = (try ProviderKey.rsa(), try ProviderKey.ec())
    let (n, x, y) = (
      try rsa.number("n"), try ec.number("qx", bytes: 32), try ec.number("qy", bytes: 32)
    )
    let weak = try ProviderKey.rsa(bits: 1024).number("n")
    let large = ProviderKey.base64URL([UInt8](repeating: 255, count: 1025))
    // The neutral element, and the point with y = -1, with the sign of x set.
    let one = ProviderKey.base64URL([1] + [UInt8](repeating: 0, count: 31))
    let negative = ProviderKey.base64URL([0xec] + [UInt8](repeating: 255, count: 31))
    let wide = try ProviderKey.ec(curve: NID_secp384r1)
    let (wideX, wideY) = (try wide.number("qx", bytes: 48), try wide.number("qy", bytes: 48))
    for (key, reason) in [
      ("7", "is not an object"), ("{}", "has no `kty`"), (#"{"kty":1}"#, "has no `kty`"),
      (#"{"kty":"DSA"}"#, "unknown `kty`"), (#"{"kty":"oct","k":"AA"}"#, "symmetric"),
      (try rsa.jwk(#""kid":7"#), "`kid`"), (try rsa.jwk(#""kid":"""#), "`kid`"),
      (try rsa.jwk(#""use":"enc""#), "`use`"), (try rsa.jwk(#""use":null"#), "`use`"),
      (try rsa.jwk(#""key_ops":["sign"]"#), "`key_ops`"),
      (try rsa.jwk(#""key_ops":"verify""#), "`key_ops`"),
      (try rsa.jwk(#""alg":"RS384""#), "other than RS256"),
      (try rsa.jwk(#""alg":"ES256""#), "other than RS256"),
      (try rsa.jwk(#""alg":"none""#), "other than RS256"),
      (try rsa.jwk(#""alg":1"#), "other than RS256"),
      (try ec.jwk(#""alg":"ES384""#), "other than ES256"),
      (try rsa.jwk(#""d":"AQAB""#), "private key"),
      (#"{"kty":"RSA","n":"\#(weak)","e":"AQAB"}"#, "1024 bits"),
      (#"{"kty":"RSA","n":"\#(large)","e":"AQAB"}"#, "8200 bits"),
      (#"{"kty":"RSA","n":"\#(n)","e":"AQ"}"#, "unsafe"),
      (#"{"kty":"RSA","n":"\#(n)","e":"Aw"}"#, "unsafe"),
      (#"{"kty":"RSA","n":"\#(n)","e":"AQAA"}"#, "unsafe"),
      (#"{"kty":"RSA","n":"\#(n)","e":"AQAAAAAAAAAB"}"#, "unsafe"),
      (#"{"kty":"RSA","n":"\#(n)","e":"AAEAAQ"}"#, "leading zeros"),
      (#"{"kty":"RSA","n":"\#(n)","e":65537}"#, "no `e`"),
      (#"{"kty":"RSA","n":"\#(n)","e":"AQAB="}"#, "no `e`"),
      (#"{"kty":"RSA","n":"\#(n)","e":"AQAC"}"#, "unsafe"),
      (#"{"kty":"RSA","n":"\#(n)","e":"AR"}"#, "no `e`"),
      (#"{"kty":"RSA","n":["\#(n)"],"e":"AQAB"}"#, "no `n`"),
      (#"{"kty":"RSA","e":"AQAB"}"#, "no `n`"),
      (#"{"kty":"EC","crv":"P-384","x":"\#(wideX)","y":"\#(wideY)"}"#, "other than P-256"),
      (#"{"kty":"EC","crv":"P-256","x":"\#(wideX)","y":"\#(wideY)"}"#, "not of 32 bytes"),
      (#"{"kty":"EC","crv":"P-256","x":"\#(y)","y":"\#(x)"}"#, "not on the curve"),
      (#"{"kty":"EC","x":"\#(x)","y":"\#(y)"}"#, "other than P-256"),
      (#"{"kty":"OKP","crv":"X25519","x":"\#(x)"}"#, "other than Ed25519"),
      (#"{"kty":"OKP","crv":"Ed25519","x":"AQ"}"#, "not of 32 bytes"),
      (#"{"kty":"OKP","crv":"Ed25519","x":"\#(one)"}"#, "small order"),
      (#"{"kty":"OKP","crv":"Ed25519","x":"\#(negative)"}"#, "small order"),
    ] {
      // A usable key beside it stays in force.
      let keys = try Self.keySet([key, try ec.jwk()])
      #expect(keys.keys.map(\.algorithmName) == ["ES256"])
      #expect(keys.faults.count == 1)
      #expect(keys.faults.first?.contains(reason) == true, "\(key): \(keys.faults)")
    }
  }

  @Test func rejectsDocumentsAsAWhole() throws {
    let key = try ProviderKey.ec().jwk()
    for (document, reason) in [
      ("", "array `keys`"), ("[]", "array `keys`"), ("{}", "array `keys`"),
      (#"{"keys":{}}"#, "array `keys`"), (#"{"keys":[],"keys":[]}"#, "array `keys`"),
      (#"{"keys":[\#(key)]"#, "array `keys`"), ("<html></html>", "array `keys`"),
      (
        #"{"keys":\#(String(repeating: "[", count: 40))\#(String(repeating: "]", count: 40))}"#,
        "array `keys`"
      ),
      (#"{"keys":[]}"#, "no public key"), (#"{"keys":[{"kty":"oct"}]}"#, "no public key"),
      (#"{"keys":[\#(Array(repeating: key, count: 65).joined(separator: ","))]}"#, "65 keys"),
      (
        #"{"keys":[\#(Array(repeating: "{}", count: 10_000).joined(separator: ","))]}"#,
        "10000 keys"
      ),
    ] {
      #expect(fault(document)?.contains(reason) == true, "\(fault(document) ?? "no fault")")
    }
  }

  @Test func rejectsDuplicateKeyIDsOfAnAlgorithm() throws {
    let (one, two, rsa) = (try ProviderKey.ec(), try ProviderKey.ec(), try ProviderKey.rsa())
    var keySet = TokenKeySet(files: 0)
    // RFC 7517 §4.5 allows one id for keys of different types.
    try keySet.replaceProviderKeys(Self.keySet([one.jwk(), rsa.jwk()]).keys, of: "url")
    let hash = keySet.hash
    #expect(throws: FileError.self) {
      try keySet.replaceProviderKeys(Self.keySet([one.jwk(), two.jwk()]).keys, of: "url")
    }
    #expect(keySet.hash == hash)
  }
}
