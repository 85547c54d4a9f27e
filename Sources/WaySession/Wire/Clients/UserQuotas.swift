import WayRouting
import WayTransport
import WayValues

/// The place of a connection, or of a session, among those of its user. It ends with its last
/// reference.
typealias UserSlot = PeerQuota<UTF8Key>.Slot

/// The limits of each user: of its connections and of its sessions. Clients without a user have
/// none. Thread-safe.
package struct UserQuotas: Sendable {
  private let connections: PeerQuota<UTF8Key>
  private let sessions: PeerQuota<UTF8Key>

  init(_ limits: Limits) {
    connections = PeerQuota(
      maxSlots: limits.maxUserConnections,
      rate: RateLimit(
        rate: limits.maxUserRate, burst: max(limits.maxUserConnections, limits.maxUserRate)))
    sessions = PeerQuota(maxSlots: limits.maxUserSessions)
  }

  /// How many connections and sessions were refused, by the limit that they would have exceeded.
  package var refused: (connections: Int, rate: Int, sessions: Int) {
    let (slots, rate) = connections.refused
    return (slots, rate, sessions.refused.slots)
  }

  /// Counts a connection, at a time of the loops' clock in nanoseconds, until the slot goes away.
  /// Fails with 2503.
  func connection(of user: String?, at now: UInt64) throws(CallError) -> UserSlot? {
    guard let user else { return nil }
    do throws(PeerQuota<UTF8Key>.Excess) {
      return try connections.acquire(UTF8Key(user), at: now)
    } catch {
      throw Self.error(error, "connections")
    }
  }

  /// Counts a connection that resumes a client, which was accepted before.
  func resumedConnection(of user: String?) -> UserSlot? {
    user.map { connections.restore(UTF8Key($0)) }
  }

  /// Counts a session until the slot goes away. Fails with 2503.
  func session(of user: String?) throws(CallError) -> UserSlot? {
    guard let user else { return nil }
    do throws(PeerQuota<UTF8Key>.Excess) {
      return try sessions.acquire(UTF8Key(user), at: 0)
    } catch {
      throw Self.error(error, "sessions")
    }
  }

  /// Counts a session that was accepted before, at the start of this server or by another one.
  func restoredSession(of user: String?) -> UserSlot? {
    user.map { sessions.restore(UTF8Key($0)) }
  }

  private static func error(_ excess: PeerQuota<UTF8Key>.Excess, _ what: String) -> CallError {
    switch excess {
    case .slots(let limit):
      return CallError(
        .unavailable, "The user has reached the limit of \(limit) \(what); try again later")
    case .rate(let wait):
      let milliseconds = RateLimit.milliseconds(ofWait: wait)
      return CallError(
        .unavailable, "The user connects too often; try again in \(milliseconds) ms",
        data: ["retryAfterMs": .integer(Int64(milliseconds))])
    }
  }
}
