import WayTransport
import WayValues

/// The invitations of one session that can still be used. Belongs to the isolation of its
/// ``Session``.
struct Invitations {
  /// The maximum number of invitations of a session.
  static let limit = 256
  /// The time in which a guest may join again after its connection was lost, in nanoseconds.
  private static let rejoinWindow: UInt64 = 120_000_000_000

  /// An invitation and its guests. Times are in nanoseconds of the loop's clock.
  struct OpenInvitation {
    let invitation: Invitation
    /// The number of guests that may still join, until `expires`.
    var uses: Int
    let expires: UInt64
    /// The times until which earlier guests may join again.
    var rejoinDeadlines: [UInt64] = []
    /// The number of guests in the session.
    var guestCount = 0
    /// Whether one of its guests was removed, so that no guest may join.
    var isRevoked = false

    fileprivate mutating func expire(before now: UInt64) {
      if expires < now { uses = 0 }
      rejoinDeadlines.removeAll { $0 < now }
    }

    /// Whether no guest may join: it was revoked, or its inviter may not invite. `wall` is the time
    /// by the wall clock, in milliseconds.
    fileprivate func isVoid(at wall: Int64) -> Bool {
      isRevoked || !invitation.inviter.mayInvite(at: wall)
    }

    fileprivate var isOpen: Bool { !isRevoked && (uses > 0 || !rejoinDeadlines.isEmpty) }
  }

  private(set) var entries: [OpenInvitation] = []

  /// Adds an invitation for `uses` guests. Throws 2429 if there are too many invitations.
  mutating func add(
    _ invitation: Invitation, uses: Int, expires: UInt64, at now: UInt64
  ) throws(CallError) {
    removeExpired(at: now)
    guard entries.count < Self.limit else {
      throw CallError(
        .tooMany, "\(Self.limit) invitations of the session are open",
        data: ["limit": .integer(Int64(Self.limit))])
    }
    entries.append(OpenInvitation(invitation: invitation, uses: uses, expires: expires))
  }

  /// The invitation of a token that can be used now; nil if there is none. An invitation is void if
  /// its inviter has left or its identity has expired. `wall` is `now` by the wall clock, in
  /// milliseconds.
  mutating func find(_ token: PresentedToken, at now: UInt64, wall: Int64) -> Invitation? {
    removeExpired(at: now)
    var found: Invitation?
    for entry in entries
    where token.matches(entry.invitation.token) && entry.isOpen
      && !entry.isVoid(at: wall)
    {
      found = entry.invitation
    }
    return found
  }

  /// Whether a client has invitations.
  func contains(by inviter: Rights) -> Bool {
    entries.contains { $0.invitation.inviter === inviter }
  }

  /// The rights of an inviter in restored invitations, by the name of the client.
  func inviter(named name: String) -> Rights? {
    entries.first { $0.invitation.inviter.caller.client?.id.isSameUTF8(as: name) == true }?
      .invitation.inviter
  }

  /// Records which inviters are no longer in the session. Call after its clients are restored.
  func departInviters(unless isPresent: (String) -> Bool) {
    for entry in entries {
      let inviter = entry.invitation.inviter
      if let client = inviter.caller.client, !isPresent(client.id) {
        inviter.depart(isElsewhere: false)
      }
    }
  }

  /// Whether the invitation of a token has guests in the session.
  func isInUse(_ token: PresentedToken) -> Bool {
    entries.contains { token.matches($0.invitation.token) && $0.guestCount > 0 }
  }

  /// Counts a guest that has joined.
  mutating func redeem(_ invitation: Invitation) {
    update(invitation) { entry in
      if entry.rejoinDeadlines.isEmpty {
        entry.uses -= 1
      } else {
        entry.rejoinDeadlines.removeFirst()
      }
      entry.guestCount += 1
    }
  }

  /// Counts a guest that has left. Unless `isFinal`, it may join again for a while, as a page does
  /// that reloads.
  mutating func release(_ invitation: Invitation, isFinal: Bool, at now: UInt64) {
    update(invitation) { entry in
      entry.guestCount -= 1
      if !isFinal { entry.rejoinDeadlines.append(now &+ Self.rejoinWindow) }
    }
    removeExpired(at: now)
  }

  /// Voids an invitation. Its guests stay, but none joins, also not again.
  mutating func revoke(_ invitation: Invitation) {
    update(invitation) { $0.isRevoked = true }
  }

  /// Whether the invitation of a token lets no guest join, at a time by the wall clock in
  /// milliseconds.
  func isVoid(_ token: PresentedToken, wall: Int64) -> Bool {
    entries.contains {
      token.matches($0.invitation.token) && $0.isVoid(at: wall)
    }
  }

  /// Restores an invitation. Its guests are counted when they are restored.
  mutating func restore(_ invitation: OpenInvitation) { entries.append(invitation) }

  /// Counts a guest of an earlier run of the server, and returns its invitation.
  mutating func restoreGuest(of token: String) -> Invitation? {
    guard let index = entries.firstIndex(where: { $0.invitation.token == token }) else {
      return nil
    }
    entries[index].guestCount += 1
    return entries[index].invitation
  }

  private mutating func update(_ invitation: Invitation, _ change: (inout OpenInvitation) -> Void) {
    guard let index = entries.firstIndex(where: { $0.invitation === invitation }) else { return }
    change(&entries[index])
  }

  private mutating func removeExpired(at now: UInt64) {
    for index in entries.indices { entries[index].expire(before: now) }
    entries.removeAll { $0.guestCount == 0 && !$0.isOpen }
  }
}
