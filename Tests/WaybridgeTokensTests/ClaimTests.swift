import TestSupport
import Testing
import Waybridge
import WaybridgeTokens

/// The required claims of a token.
struct ClaimTests {
  private let folder: TestFolder
  private let secret: String

  init() throws {
    folder = try TestFolder()
    secret = try folder.write(TokenMaker.secret, time: 1)
  }

  private func verified(
    _ claims: String, rules: TokenRules = TokenMaker.rules()
  ) async throws -> Token {
    let keys = try await TokenKeys.load(secretFile: secret, rules: rules)
    return try await keys.verify(TokenMaker.token(claims: claims))
  }

  @Test func verifyReturnsClaims() async throws {
    let claims: ValueObject = [
      "sub": "ada", "groups": ["staff", "editors"], "aud": ["shop", "waybridge"],
      "exp": 1_800_000_060, "nbf": 1_799_999_000, "iat": 1_799_999_000, "tenant": ["id": 7],
    ]
    let signer = try await TokenSigner(secretFile: secret, keyID: "2027")
    let keys = try await TokenKeys.load(secretFile: secret, rules: TokenMaker.rules())
    let token = try await keys.verify(signer.sign(claims))
    #expect(token.subject == "ada")
    #expect(token.groups == ["staff", "editors"])
    #expect(token.expiresAt == 1_800_000_060_000)
    #expect(token.notBefore == 1_799_999_000_000)
    #expect(token.keyID == "2027")
    #expect(token.claims == claims)
    #expect(token.claims.members.map(\.name) == claims.members.map(\.name))
  }

  @Test func optionalClaimsMayBeAbsent() async throws {
    let token = try await verified(#"{"sub":"ada","aud":"waybridge","exp":1800000000.5}"#)
    #expect(token.groups == [])
    #expect(token.expiresAt == 1_800_000_000_500)
    #expect(token.notBefore == nil)
    #expect(token.keyID == nil)
  }

  private static let long = String(repeating: "ü", count: 129)
  private static let many = Array(repeating: #""g""#, count: 129).joined(separator: ",")

  @Test(arguments: [
    ("sub", #""aud":"waybridge","exp":1900000000"#),
    ("sub", #""sub":"","aud":"waybridge","exp":1900000000"#),
    ("sub", #""sub":7,"aud":"waybridge","exp":1900000000"#),
    ("sub", #""sub":null,"aud":"waybridge","exp":1900000000"#),
    ("sub", #""sub":["ada"],"aud":"waybridge","exp":1900000000"#),
    ("sub", #""sub":"\#(long)","aud":"waybridge","exp":1900000000"#),
    ("groups", #""sub":"ada","groups":"staff","aud":"waybridge","exp":1900000000"#),
    ("groups", #""sub":"ada","groups":null,"aud":"waybridge","exp":1900000000"#),
    ("groups", #""sub":"ada","groups":{"staff":true},"aud":"waybridge","exp":1900000000"#),
    ("groups", #""sub":"ada","groups":["staff",7],"aud":"waybridge","exp":1900000000"#),
    ("groups", #""sub":"ada","groups":["staff",""],"aud":"waybridge","exp":1900000000"#),
    ("groups", #""sub":"ada","groups":["\#(long)"],"aud":"waybridge","exp":1900000000"#),
    ("groups", #""sub":"ada","groups":[\#(many)],"aud":"waybridge","exp":1900000000"#),
    ("aud", #""sub":"ada","exp":1900000000"#),
    ("aud", #""sub":"ada","aud":"shop","exp":1900000000"#),
    ("aud", #""sub":"ada","aud":"Waybridge","exp":1900000000"#),
    ("aud", #""sub":"ada","aud":"waybridge2","exp":1900000000"#),
    ("aud", #""sub":"ada","aud":[],"exp":1900000000"#),
    ("aud", #""sub":"ada","aud":["shop","way"],"exp":1900000000"#),
    ("aud", #""sub":"ada","aud":["waybridge",7],"exp":1900000000"#),
    ("aud", #""sub":"ada","aud":{"waybridge":"waybridge"},"exp":1900000000"#),
    ("aud", #""sub":"ada","aud":null,"exp":1900000000"#),
    ("exp", #""sub":"ada","aud":"waybridge""#),
    ("exp", #""sub":"ada","aud":"waybridge","exp":null"#),
    ("exp", #""sub":"ada","aud":"waybridge","exp":"1900000000""#),
    ("exp", #""sub":"ada","aud":"waybridge","exp":true"#),
    ("exp", #""sub":"ada","aud":"waybridge","exp":-1"#),
    ("exp", #""sub":"ada","aud":"waybridge","exp":1900000000000"#),
    ("exp", #""sub":"ada","aud":"waybridge","exp":1e999"#),
    ("exp", #""sub":"ada","aud":"waybridge","exp":9223372036854775807"#),
    ("nbf", #""sub":"ada","aud":"waybridge","exp":1900000000,"nbf":"now""#),
    ("nbf", #""sub":"ada","aud":"waybridge","exp":1900000000,"nbf":-0.5"#),
  ])
  func namesMissingOrInvalidClaim(claim: String, members: String) async throws {
    let error = await #expect(throws: TokenError.self) { try await verified("{\(members)}") }
    #expect(error?.kind == .invalidClaim(claim))
    #expect(error?.description.hasPrefix("`\(claim)` ") == true)
    #expect(error?.description.contains("ada") == false)
  }

  @Test func acceptsClaimsOfMaximumLength() async throws {
    let name = String(repeating: "ü", count: 128)
    let groups = Array(repeating: "\"g\"", count: 128).joined(separator: ",")
    let token = try await verified(
      #"{"sub":"\#(name)","groups":[\#(groups)],"aud":"waybridge","exp":253402300799}"#)
    #expect(token.subject == name)
    #expect(token.groups.count == 128)
    #expect(token.expiresAt == 253_402_300_799_000)
  }

  @Test func rejectsClaimsOverMemoryLimit() async throws {
    let values = Array(repeating: #"{"":0}"#, count: 800).joined(separator: ",")
    let error = await #expect(throws: TokenError.self) {
      try await verified(#"{"sub":"ada","aud":"waybridge","exp":1900000000,"x":[\#(values)]}"#)
    }
    #expect(error?.kind == .tooLarge)
  }

  @Test(
    arguments: [
      // (seconds from now to nbf, to exp, the error)
      (nil, 1, nil), (nil, 0, .expired), (nil, -1, .expired), (0, 1, nil), (60, 61, nil),
      (61, 90, .notYetValid), (-90, -61, .expired), (90, 0, .expired),
    ] as [(Int64?, Int64, TokenError.TokenErrorKind?)])
  func acceptsTokenOnlyWhileValid(begin: Int64?, end: Int64, fault: TokenError.TokenErrorKind?)
    async throws
  {
    let now = TokenMaker.now
    let nbf = begin.map { #","nbf":\#(now + $0)"# } ?? ""
    let claims = #"{"sub":"ada","aud":"waybridge","exp":\#(now + end)\#(nbf)}"#
    do {
      _ = try await verified(claims)
      #expect(fault == nil)
    } catch let error as TokenError {
      #expect(error.kind == fault)
    }
  }

  @Test func appliesCustomRules() async throws {
    var rules = TokenMaker.rules()
    rules.audience = "shop"
    rules.requiresExpiry = false
    rules.leeway = .seconds(5)
    let token = try await verified(#"{"sub":"ada","aud":"shop"}"#, rules: rules)
    #expect(token.expiresAt == nil)
    for (claims, kind) in [
      (TokenMaker.claims, TokenError.TokenErrorKind.invalidClaim("aud")),
      (#"{"sub":"ada","aud":"shop","exp":1}"#, .expired),
      (#"{"sub":"ada","aud":"shop","nbf":1800000006}"#, .notYetValid),
    ] {
      let error = await #expect(throws: TokenError.self) {
        try await verified(claims, rules: rules)
      }
      #expect(error?.kind == kind)
    }
  }

  @Test func usesSystemClockByDefault() async throws {
    let keys = try await TokenKeys.load(secretFile: secret)
    let signer = try await TokenSigner(secretFile: secret)
    func token(until end: Int64) throws -> String {
      try signer.sign(["sub": "ada", "aud": "waybridge", "exp": .integer(end)])
    }
    #expect(try await keys.verify(token(until: 4_000_000_000)).subject == "ada")
    let error = await #expect(throws: TokenError.self) {
      try await keys.verify(token(until: 1_700_000_000))
    }
    #expect(error?.kind == .expired)
  }
}
