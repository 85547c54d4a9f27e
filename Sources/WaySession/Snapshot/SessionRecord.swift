import WayValues

/// The stored form of a session itself.
struct SessionRecord: Codable {
  let joinToken: String
  let epoch: String
  let identity: IdentityRecord
}
