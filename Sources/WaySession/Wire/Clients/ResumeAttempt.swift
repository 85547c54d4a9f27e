import WayRouting
import WayTransport
import WayValues

/// The attempt of a connection to resume a client.
struct ResumeAttempt {
  let claim: ResumeClaim
  /// The identity of the token in the connection's handshake; `nil` if it has no token.
  let identity: Identity?
  let handshake: Handshake
  let channel: any MessageChannel
  /// The time in which the connection was opened, in nanoseconds of the loops' clock.
  let openTime: ClosedRange<UInt64>

  /// Decides whether the connection may resume a client of a session with this epoch. Returns the
  /// number of the last message that the client has received. `now` is in milliseconds since
  /// 1970-01-01 UTC. Fails with 2401 or 2403 if the client is not allowed to resume.
  func resumePoint(
    of client: Client, epoch: String, at now: Int64
  ) throws(CallError) -> Result<UInt64, ResumeRejection> {
    guard client.link.isResumable else { return .failure(ResumeRejection(.unknown)) }
    guard claim.epoch == epoch else { return .failure(ResumeRejection(.epoch)) }
    let point = client.link.resumePoint(claim, over: channel, since: openTime.lowerBound)
    if case .failure = point { return point }
    guard handshake.origin == client.link.handshake.origin else {
      throw .forbidden("origin", "The client belongs to a page of another origin")
    }
    if let identity = identity(for: client) {
      // Another user gets a new session.
      guard identity.hasUser(of: client.rights.caller.identity) else {
        return .failure(ResumeRejection(.user))
      }
    } else if client.rights.hasExpired(at: now) {
      throw CallError(
        .notAuthenticated,
        client.rights.invitation == nil
          ? "The token of the client has expired: send a new one"
          : "The token of the guest's inviter has expired")
    }
    return point
  }

  /// The identity that the client gets; `nil` if it keeps its own. The invitation defines a guest's
  /// rights, whatever token the guest shows.
  func identity(for client: Client) -> Identity? {
    client.rights.invitation == nil ? identity : nil
  }
}
