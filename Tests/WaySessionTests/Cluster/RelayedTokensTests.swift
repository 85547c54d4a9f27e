import Testing
import WayRPC
import WayRouting
import WayValues

@testable import WaySession

struct RelayedTokensTests {
  /// Messages, what the owner receives, and the tokens to verify.
  static let messages: [(String, String?, [String])] = [
    (
      #"{"method":"session.open","params":{"token":"a","hosts":[]},"id":1}"#,
      #"{"method":"session.open","params":{"token":"token-1","hosts":[]},"id":1}"#, ["a"]
    ),
    (
      #"{"method":"session.open","params":{"join":{"session":"s","token":"j"}}}"#,
      #"{"method":"session.open","params":{"join":{"session":"s","token":"<j for s>"}}}"#, []
    ),
    (
      #"{"method":"session.resume","params":{"client":"c","token":"r","open":{"token":"a","join":{"session":"s","token":"j"}}}}"#,
      #"{"method":"session.resume","params":{"client":"c","token":"<r for c>","open":{"token":"token-1","join":{"session":"s","token":"<j for s>"}}}}"#,
      ["a"]
    ),
    (
      #"{"method":"session.renew","params":{"token":"a"},"id":9007199254740993}"#,
      #"{"method":"session.renew","params":{"token":"token-1"},"id":9007199254740993}"#, ["a"]
    ),
    (
      #"[{"method":"session.renew","params":{"token":"a"}},{"method":"echo"},{"method":"session.renew","params":{"token":"b"}}]"#,
      #"[{"method":"session.renew","params":{"token":"token-1"}},{"method":"echo"},{"method":"session.renew","params":{"token":"token-2"}}]"#,
      ["a", "b"]
    ),
    // Escaped letters are the same method.
    (
      #"{"method":"sess\u0069on.open","params":{"join":{"session":"s","token":"<j for s>"}}}"#,
      #"{"method":"session.open","params":{"join":{"session":"s","token":"<<j for s> for s>"}}}"#,
      []
    ),
    (
      #"{"method":"sess\u0069on.renew","params":{"token":"token-0"}}"#,
      #"{"method":"session.renew","params":{"token":"token-1"}}"#, ["token-0"]
    ),
    (
      #"{"m\u0065thod":"session\u002erenew","params":{"t\u006fken":"a"}}"#,
      #"{"method":"session.renew","params":{"token":"token-1"}}"#, ["a"]
    ),
    // A server rejects these methods in a batch: their tokens are replaced, but not verified.
    (
      #"[{"method":"session.open","params":{"token":"a","join":{"session":"s","token":"j"}}},{"method":"session.resume","params":{"client":"c","token":"r","open":{"token":"b"}}}]"#,
      #"[{"method":"session.open","params":{"token":"token-1","join":{"session":"s","token":"<j for s>"}}},{"method":"session.resume","params":{"client":"c","token":"<r for c>","open":{"token":"token-2"}}}]"#,
      []
    ),
    (#"{"method":"router.invoke","params":{"token":"a"}}"#, nil, []),
    (#"{"method":"session.renew","params":{"token":1}}"#, nil, []),
    (#"{"method":"session.renew","params":["a"]}"#, nil, []),
    (#"{"method":"session.open","params":{"join":"j"}}"#, nil, []),
    (#"{"method":"session.renew","params":{"token":"a""#, nil, []),
    ("", nil, []), ("null", nil, []), ("[]", nil, []),
  ]

  @Test(arguments: messages.indices)
  func replacesTokens(_ index: Int) throws {
    let (message, expected, credentials) = Self.messages[index]
    var tokens = RelayedTokens { "<\($0) for \($1)>" }
    let replaced = tokens.replace(in: Array(message.utf8))
    #expect((replaced == nil) == (expected == nil))
    guard let replaced, let expected else { return }
    let wanted = Array(expected.utf8)
    let (found, other) = (
      try JSON.parse(replaced.bytes.span.bytes), try JSON.parse(wanted.span.bytes)
    )
    #expect(found == other)
    #expect(replaced.credentials.map(\.token) == credentials)
    #expect(
      replaced.credentials.map(\.reference) == credentials.indices.map { "token-\($0 + 1)" })
    #expect(mayContainTokens(message))
  }

  private func mayContainTokens(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return RelayedTokens.mayContainTokens(bytes.span.bytes)
  }

  @Test func onlyMessagesThatMayNameAMethodWithTokensAreRead() {
    for text in [
      "", "\"", "\\", "\"session", #"{"method":"router.invoke"}"#, "session.renew",
      #"{"text":"a \"quoted\" line\n"}"#, String(repeating: "\"s", count: 1000),
    ] {
      #expect(!mayContainTokens(text), "\(text)")
    }
    for text in [#""session."#, #"\u"#, #"{"method":"\u0073ession.renew"}"#] {
      #expect(mayContainTokens(text), "\(text)")
    }
  }

  @Test func tokensInLargeMessagesAreReplaced() throws {
    let padding = String(repeating: "a", count: 1 << 20)
    let message =
      #"[{"method":"echo","params":"\#(padding)"},{"method":"session.renew","params":{"token":"secret"}}]"#
    #expect(mayContainTokens(message))
    var tokens = RelayedTokens { "<\($0) for \($1)>" }
    let result = tokens.replace(in: Array(message.utf8))
    let replaced = try #require(result)
    #expect(replaced.credentials.map(\.token) == ["secret"])
    #expect(!String(decoding: replaced.bytes, as: UTF8.self).contains("secret"))
  }

  @Test func fewTokensOfAMessageAreVerified() throws {
    let renewals = (0..<4000).map {
      #"{"method":"session.renew","params":{"token":"secret \#($0)"}}"#
    }
    let message = "[\(renewals.joined(separator: ","))]"
    var tokens = RelayedTokens { "<\($0) for \($1)>" }
    let result = tokens.replace(in: Array(message.utf8))
    let replaced = try #require(result)
    #expect(replaced.credentials.map(\.token) == (0..<8).map { "secret \($0)" })
    #expect(replaced.excessCredentials == 3992)
    #expect(!String(decoding: replaced.bytes, as: UTF8.self).contains("secret"))
  }

  @Test func identitiesOfTheLastTokensAreKept() throws {
    var identities = RelayedIdentities()
    for number in 0..<20 {
      identities.add(
        RelayedIdentity(reference: "\(number)", .success(Identity(user: "user \(number)"))))
    }
    #expect(try identities.identity(for: "19", at: 0).user == "user 19")
    #expect(try identities.identity(for: "12", at: 0).user == "user 12")
    for reference in ["11", "20", nil] {
      #expect(throws: CallError.self) { try identities.identity(for: reference, at: 0) }
    }
    identities.add(RelayedIdentity(reference: nil, .failure(CallError(.unavailable, "later"))))
    #expect {
      _ = try identities.identity(for: nil, at: 0)
    } throws: { error in
      (error as? CallError)?.message == "later"
    }
  }

  @Test func presentedDigestMatchesItsTokenOnly() {
    let digest: PresentedToken.TokenDigest = { token, context in
      token == "broken" ? nil : "\(context)/\(token)"
    }
    let presented = PresentedToken("s/a", digest: digest, in: "s")
    #expect(presented.matches("a"))
    #expect(!presented.matches("s/a") && !presented.matches("b") && !presented.matches("broken"))
    #expect(!PresentedToken("", digest: digest, in: "s").matches("broken"))
    #expect(PresentedToken("a").matches("a") && !PresentedToken("a").matches("b"))
  }
}
