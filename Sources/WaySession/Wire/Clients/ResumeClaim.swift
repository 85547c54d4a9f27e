/// The client that a connection wants to resume, and the client's positions.
struct ResumeClaim: Sendable {
  let client: String
  let token: PresentedToken
  let epoch: String
  /// The number of the last message that the client received.
  let lastReceived: UInt64
  /// The number of the last message that the client has sent, or keeps to send; `nil` if it did not
  /// report one.
  let lastSent: UInt64?
  /// Whether the client was reloaded, and has lost the requests that it had not responded to.
  let isReloaded: Bool
}

/// The reason why a client gets a new session instead of its own.
struct ResumeRejection: Error {
  /// The reason why a client cannot resume.
  enum ResumeRejectionReason: String, Sendable {
    case unknown, token, user, epoch, gap, outbox
    /// The connection is older than the one that carries the client. The client has abandoned it,
    /// and its request arrived late. It is closed without an error response.
    case stale
  }

  let reason: ResumeRejectionReason

  init(_ reason: ResumeRejectionReason) {
    self.reason = reason
  }
}
