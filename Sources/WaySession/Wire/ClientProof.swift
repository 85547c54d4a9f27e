/// What a client proves itself with when it resumes. Each use gives a new token; the one before can
/// be used until the new one was, since the answer that tells it may get lost.
struct ClientProof: Sendable {
  /// The token that the client was told last.
  private(set) var token: String
  /// The one before, while it can be used.
  private(set) var former: String?

  init(token: String = Token.random(), former: String? = nil) {
    self.token = token
    self.former = former
  }

  /// Whether a token is the last, or the one before.
  func knows(_ token: String) -> Bool {
    Token.areEqual(token, self.token) || former.map { Token.areEqual(token, $0) } == true
  }

  /// Uses a token that is known.
  mutating func use(_ token: String) {
    if Token.areEqual(token, self.token) { former = self.token }
    self.token = Token.random()
  }
}
