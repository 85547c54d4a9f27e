/// A join or resume token that a client has presented, to be compared with those that were issued.
///
/// A server that relays a connection to the owner of a session sends a digest instead of the token.
/// The owner then compares it with the digests of its tokens.
struct PresentedToken: Sendable {
  /// Returns the digest of a token in a context: the session that it opens, or the client that it
  /// resumes. Returns nil if it cannot be computed.
  typealias TokenDigest = @Sendable (_ token: String, _ context: String) -> String?

  private let text: String
  private let digest: (@Sendable (String) -> String?)?

  /// Creates the token with the text that a client has sent. If `digest` is given, the text is a
  /// digest in `context`.
  init(_ text: String, digest: TokenDigest? = nil, in context: String = "") {
    self.text = text
    if let digest {
      self.digest = { @Sendable issued in digest(issued, context) }
    } else {
      self.digest = nil
    }
  }

  /// Returns whether it is a token that was issued, in a time that does not reveal where they
  /// differ.
  func matches(_ issued: String) -> Bool {
    guard let digest else { return SessionSecret.areEqual(text, issued) }
    return digest(issued).map { SessionSecret.areEqual(text, $0) } ?? false
  }
}
