import WayRouting
import WayTransport
import WayValues

/// Who is about to become a member of a session.
struct JoiningClient: Sendable {
  var identity: Identity
  var handshake: Handshake
  /// The page that it runs in.
  var page: String?
  var software = ClientSoftware()
  /// What it was invited to; nil for who may do all that the policy lets it.
  var invitation: Invitation?

  init(_ identity: Identity, _ handshake: Handshake) {
    self.identity = identity
    self.handshake = handshake
  }

  /// Becomes a guest: of the inviter's user, in the groups that were handed on, and in the page that
  /// it was invited for. Fails with -32602 where it says that it runs in another.
  mutating func take(_ invitation: Invitation, of identity: Identity) throws(CallError) {
    if let page, page != invitation.page {
      throw .invalidParams(
        "params.page: the invitation is for \(invitation.page.map { "the page \($0.quoted)" } ?? "no page")"
      )
    }
    page = invitation.page
    self.invitation = invitation
    self.identity = Identity(user: identity.user, groups: invitation.groups)
  }
}
