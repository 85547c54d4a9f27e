import Testing
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// The invitations of a session, without a session.
struct InvitationsTests {
  private let inviter = Rights(Caller(session: "s"), PolicySource())

  /// Returns an invitation that is restored 5 s after the start of the clock, from its record with
  /// these members.
  private func open(_ members: ValueObject) throws -> Invitations.OpenInvitation {
    var record: ValueObject = [
      "token": "t", "hosts": [], "groups": [],
      "inviter": ["identity": ["groups": []], "isGuest": false],
    ]
    record.merge(members)
    return try RecordCoder.decode(
      InvitationsRecord.OpenInvitationRecord.self, from: .object(record), "open"
    ).open(
      by: inviter, at: 5_000_000_000, wall: 1000,
      ByteBudget(.client, 1 << 20).charge(Invitation.overhead))
  }

  /// A stored time is any integer. One that is far away must not overflow.
  @Test(
    arguments: [
      (Int64.min, false), (0, false), (999, false), (1000, true), (2000, true), (1 << 62, true),
      (Int64.max, true),
    ])
  func restoresInvitationWithAnyExpiry(_ expiresAt: Int64, isOpen: Bool) throws {
    var invitations = Invitations()
    invitations.restore(try open(["uses": 1, "expiresAt": .integer(expiresAt), "returns": []]))
    #expect((invitations.find(PresentedToken("t"), at: 5_000_000_000, wall: 1000) != nil) == isOpen)
  }

  @Test func restoresDeadlinesOfEarlierGuests() throws {
    var invitations = Invitations()
    invitations.restore(
      try open(["uses": 0, "expiresAt": 0, "returns": [.integer(.min), .integer(.max)]]))
    #expect(invitations.find(PresentedToken("t"), at: 6_000_000_000, wall: 2000) != nil)
  }
}
