import WayRouting
import WayTransport
import WayValues

/// Where a client has its identity from.
enum IdentitySource: Equatable {
  /// From a token of its own, or from its inviter.
  case own
  /// It is that of the session: the first client defines it, and the clients that joined with neither
  /// a token nor an invitation follow its renewals.
  case session(definesIt: Bool)
}

/// A client that is about to join a session.
struct JoiningClient: Sendable {
  var identity: Identity
  var identitySource = IdentitySource.own
  var handshake: Handshake
  /// The page that the client runs in.
  var page: String?
  var software = ClientSoftware()
  /// The client's invitation; nil if only the policy limits the client's rights.
  var invitation: Invitation?
  /// Whether the client is an agent that acts for the user of its token.
  var isAgent = false

  init(_ identity: Identity, _ handshake: Handshake) {
    self.identity = identity
    self.handshake = handshake
  }

  /// The agent that the client is; nil if it is none.
  var agent: Caller.CallingAgent? {
    guard isAgent else { return nil }
    return Caller.CallingAgent(
      id: identity.program, name: software.name, version: software.version)
  }

  /// Makes the client a guest: of the inviter's user, with the groups and the page of the
  /// invitation. Throws -32602 if the client gave another page.
  mutating func accept(_ invitation: Invitation) throws(CallError) {
    if let page, page != invitation.page {
      throw .invalidParams(
        "params.page: the invitation is for \(invitation.page.map { "the page \($0.quoted)" } ?? "no page")"
      )
    }
    page = invitation.page
    self.invitation = invitation
    identity = Identity(
      user: invitation.inviter.caller.identity.user, groups: invitation.currentGroups)
  }
}

/// A client's description of itself in `session.open`: its program, the program's version, and its
/// platform. Members that the client did not send are nil.
struct ClientSoftware: Sendable, Codable {
  var name: String?
  var version: String?
  var platform: String?
}
