import WayValues

/// The stored form of a session itself.
struct SessionRecord: Codable {
  let joinToken: String
  let epoch: String
  let identity: IdentityRecord
}

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
    let uses: Int
    let expiresAt: Int64
    /// The times until which earlier guests may join again.
    let returns: [Int64]
    let revoked: Bool?
  }

  let open: [OpenInvitationRecord]
}
