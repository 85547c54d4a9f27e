import WayRouting
import WayTransport
import WayValues

/// A client that a connection carries from now on, and what that is answered. What follows goes
/// out by ``Resuming/goOn(_:in:)``.
struct ResumedClient: Sendable {
  let session: Session
  let client: ClientID
  let answer: Value
}

extension LoopSessions {
  /// Has a connection go on with a client. `identity` is that of its handshake's token; nil where it
  /// has none. Gives why it cannot, and then nothing has changed; fails with 2401 or 2403 where it
  /// must not.
  nonisolated func resume(
    _ claim: ResumeClaim, _ identity: Identity?, _ handshake: Handshake,
    on channel: any MessageChannel, since began: ClosedRange<UInt64>
  ) throws(CallError) -> Result<ResumedClient, ResumeRefusal> {
    guard let (home, client) = resumables.find(claim.client), let session = home as? Session
    else {
      let isGivenUp = group.directory.hasGivenUp(claim.client)
      return .failure(ResumeRefusal(isGivenUp ? .outbox : .unknown))
    }
    return try session.assumeIsolated { session in
      Result { () throws(CallError) in
        try ClientResume.resume(
          client, claim, identity, handshake, channel, since: began, in: session
        ).map {
          number in
          let answer = session.welcomeBack(client, after: number)
          return ResumedClient(session: session, client: client.id, answer: answer)
        }
      }
    }.get()
  }
}
