import TestSupport
import Testing
import Waybridge
import WaybridgeTokens

/// Tokens that the signer creates are accepted.
struct SignerTests {
  private let secret: String
  private let folder: TestFolder

  init() throws {
    folder = try TestFolder()
    secret = try folder.write(TokenMaker.secret, time: 1)
  }

  @Test func signsClaimsInGivenOrder() async throws {
    let claims: ValueObject = ["b": 1, "a": [.number(try #require(Number(digits: "1.50")))]]
    let token = try await TokenSigner(secretFile: secret, keyID: "k").sign(claims)
    let expected = try TokenMaker.token(
      header: #"{"alg":"HS256","typ":"JWT","kid":"k"}"#, claims: #"{"b":1,"a":[1.50]}"#)
    #expect(token == expected)
  }

  @Test func rejectsClaimsThatCannotBeVerified() async throws {
    var deep: Value = 1
    for _ in 0..<16 { deep = [deep] }
    let deeper: Value = (0..<200).reduce(deep) { value, _ in [value] }
    let long = String(repeating: "x", count: 7_000)
    for (claims, keyID, kind) in [
      (["x": deep], nil, TokenError.TokenErrorKind.malformed), (["x": deeper], nil, .malformed),
      (["x": .string(long)], nil, .tooLarge), ([:], "", .unknownKey),
      ([:], String(repeating: "k", count: 257), .unknownKey),
    ] as [(ValueObject, String?, TokenError.TokenErrorKind)] {
      let signer = try await TokenSigner(secretFile: secret, keyID: keyID)
      let error = #expect(throws: TokenError.self) { try signer.sign(claims) }
      #expect(error?.kind == kind)
    }
  }

  @Test func rejectsInvalidSecretFile() async throws {
    let path = try folder.write("short", to: "short", time: 1)
    let error = await #expect(throws: TokenKeyError.self) {
      try await TokenSigner(secretFile: path)
    }
    #expect(error?.path == path)
    #expect(error?.reason.hasPrefix("has a secret of 5 bytes") == true)
  }
}
