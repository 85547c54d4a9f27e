import WayTransport
import WayValues

/// The stored form of the invitations of a session.
struct InvitationsRecord: Codable {
  /// An invitation that guests may use. Times are in milliseconds since 1970-01-01 UTC.
  struct OpenInvitationRecord: Codable {
    let token: String
    let hosts: [String]
    let groups: [String]
    let inviter: CallerRecord
    let page: String?
    let routes: [String]?
    /// The topics that a guest may publish; `nil` for none.
    let topics: [String]?
    let uses: Int
    let expiresAt: Int64
    /// The times until which earlier guests may join again.
    let returns: [Int64]
    let revoked: Bool?

    /// `wall` is `now`, in nanoseconds of the loop's clock, by the wall clock in milliseconds.
    fileprivate init(_ open: Invitations.OpenInvitation, at now: UInt64, wall: Int64) {
      func time(_ moment: UInt64) -> Int64 {
        wall + (Int64(clamping: moment) - Int64(clamping: now)) / 1_000_000
      }
      token = open.invitation.token
      hosts = open.invitation.hosts.sortedTexts
      groups = open.invitation.groups.sortedTexts
      inviter = CallerRecord(open.invitation.inviter.caller)
      page = open.invitation.page
      routes = open.invitation.givenRoutes
      topics = open.invitation.topics.isEmpty ? nil : open.invitation.topics
      uses = open.uses
      expiresAt = time(open.expires)
      returns = open.rejoinDeadlines.map(time)
      revoked = open.isRevoked ? true : nil
    }

    /// Returns the invitation with the rights of its inviter. Fails if it is invalid.
    func open(
      by inviter: Rights, at now: UInt64, wall: Int64, _ charge: ByteBudget.Charge
    ) throws(CallError) -> Invitations.OpenInvitation {
      func moment(_ time: Int64) -> UInt64 {
        // Any time may be stored, and none may overflow.
        UInt64(clamping: Int128(now) + (Int128(time) - Int128(wall)) * 1_000_000)
      }
      let invitation = try Invitation(
        page: page, hosts: hosts, routes: routes, groups: Set(groups.map(UTF8Key.init)),
        topics: topics ?? [], by: inviter,
        token: token, charge)
      return Invitations.OpenInvitation(
        invitation: invitation, uses: uses, expires: moment(expiresAt),
        rejoinDeadlines: returns.map(moment), isRevoked: revoked == true)
    }
  }

  let open: [OpenInvitationRecord]

  init(_ invitations: Invitations, at now: UInt64, wall: Int64) {
    open = invitations.entries.map { OpenInvitationRecord($0, at: now, wall: wall) }
  }
}
