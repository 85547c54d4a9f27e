/// The tokens with which a client resumes. Each use issues a new token, and earlier ones stay valid
/// until a later one is used. The response with the new token may get lost, and a discarded
/// connection may have received one.
struct ResumeCredential: Sendable {
  /// The number of tokens that are valid at the same time.
  private static let maxTokens = 4

  /// The valid tokens, oldest first. The client is known to have the first.
  private(set) var tokens: [String]

  /// Restores the credential from tokens, oldest first, or issues a token if there is none.
  init(tokens: [String] = []) {
    self.tokens = tokens.isEmpty ? [SessionSecret.random()] : tokens.suffix(Self.maxTokens)
  }

  /// The token that was issued last.
  var currentToken: String { tokens.last ?? "" }

  /// Whether a token is valid.
  func accepts(_ token: PresentedToken) -> Bool { index(of: token) != nil }

  /// Whether earlier tokens than the last are valid.
  var isUnconfirmed: Bool { tokens.count > 1 }

  /// Revokes all tokens before the last, because the client has shown that it has the last.
  mutating func confirm() { tokens.removeFirst(tokens.count - 1) }

  /// Uses a valid token: revokes those before it and issues another.
  mutating func redeem(_ token: PresentedToken) {
    if let position = index(of: token) { tokens.removeFirst(position) }
    // Remove the oldest token after the one that the client is known to have.
    if tokens.count == Self.maxTokens { tokens.remove(at: 1) }
    tokens.append(SessionSecret.random())
  }

  private func index(of token: PresentedToken) -> Int? {
    // Every token is compared, so that the time reveals nothing.
    var position: Int?
    for (index, known) in tokens.enumerated() where token.matches(known) {
      position = index
    }
    return position
  }
}
