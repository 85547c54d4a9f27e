/// What a client proves itself with when it resumes. Each use gives a new token. Those that were told
/// since can be used until a later one was: the answer that tells one may get lost, and a connection
/// that was given up may ask after the one whose answer came.
struct ClientProof: Sendable {
  /// How many tokens can be used at once.
  private static let limit = 4

  /// In the order in which they were told; the client is known to have the first.
  private(set) var tokens: [String]

  /// The client has one of these, in the order in which they were told; a new one where there is none.
  init(tokens: [String] = []) {
    self.tokens = tokens.isEmpty ? [Token.random()] : tokens.suffix(Self.limit)
  }

  /// The token that the client was told last.
  var token: String { tokens.last ?? "" }

  /// Whether a token can be used.
  func knows(_ token: String) -> Bool { place(of: token) != nil }

  /// Whether others than the last can be used.
  var isUnconfirmed: Bool { tokens.count > 1 }

  /// The client has shown that it knows the last token: those before are nobody's any more.
  mutating func confirm() { tokens.removeFirst(tokens.count - 1) }

  /// Uses a token that is known.
  mutating func use(_ token: String) {
    if let place = place(of: token) { tokens.removeFirst(place) }
    // Of those that the client may have, the oldest.
    if tokens.count == Self.limit { tokens.remove(at: 1) }
    tokens.append(Token.random())
  }

  private func place(of token: String) -> Int? {
    // As many comparisons for each, so that their time tells nothing.
    var place: Int?
    for (index, known) in tokens.enumerated() where Token.areEqual(token, known) { place = index }
    return place
  }
}
