import Testing
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// The invitations of a session, without a session.
struct InvitationsTests {
  private let inviter = Rights(Caller(session: "s"), PolicySource())

  private func makeInvitation() throws -> Invitation {
    let charge = try ByteBudget(.client, 1 << 20).charge(Invitation.overhead)
    return try Invitation(
      page: nil, hosts: [], routes: nil, groups: [], by: inviter, token: "t", charge)
  }

  /// A stored time is any integer. One that is far away must not overflow.
  @Test(
    arguments: [
      (Int64.min, false), (0, false), (999, false), (1000, true), (2000, true), (1 << 62, true),
      (Int64.max, true),
    ])
  func restoresInvitationWithAnyExpiry(_ expiresAt: Int64, isOpen: Bool) throws {
    var invitations = Invitations()
    let invitation = try makeInvitation()
    let record = invitation.record(uses: 1, expiresAt: expiresAt, returns: [], revoked: nil)
    invitations.restore(invitation, record, at: 5_000_000_000, wall: 1000)
    #expect((invitations.find(PresentedToken("t"), at: 5_000_000_000, wall: 1000) != nil) == isOpen)
  }

  @Test func restoresDeadlinesOfEarlierGuests() throws {
    var invitations = Invitations()
    let invitation = try makeInvitation()
    let record = invitation.record(uses: 0, expiresAt: 0, returns: [.min, .max], revoked: nil)
    invitations.restore(invitation, record, at: 5_000_000_000, wall: 1000)
    #expect(invitations.find(PresentedToken("t"), at: 6_000_000_000, wall: 2000) != nil)
  }
}
