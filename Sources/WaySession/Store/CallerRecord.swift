import Logging
import WayRouting
import WayValues

/// The stored form of an identity.
struct IdentityRecord: Codable {
  private let user: String?
  private let groups: [String]
  private let claims: ValueObject?
  private let expires: Int64?

  init(_ identity: Identity) {
    user = identity.user
    groups = identity.groups.sortedTexts
    claims = identity.claims.isEmpty ? nil : identity.claims
    expires = identity.expires
  }

  var identity: Identity {
    Identity(
      user: user, groups: Set(groups.map(UTF8Key.init)), claims: claims ?? [:], expires: expires)
  }
}

/// The stored form of a caller. Another server also gets its session.
struct CallerRecord: Codable {
  private struct CallingClientRecord: Codable {
    let id: String
    let name: String?
    let version: String?
    let page: String?
  }

  private struct AgentRecord: Codable {
    let id: String?
    let name: String?
    let version: String?
  }

  let session: String?
  private let identity: IdentityRecord
  private let isGuest: Bool
  private let agent: AgentRecord?
  private let origin: String?
  private let address: String?
  private let client: CallingClientRecord?

  /// `session` is the session that another server gets.
  init(_ caller: Caller, in session: String? = nil) {
    self.session = session
    identity = IdentityRecord(caller.identity)
    isGuest = caller.isGuest
    agent = caller.agent.map { AgentRecord(id: $0.id, name: $0.name, version: $0.version) }
    origin = caller.origin
    address = caller.address
    client = caller.client.map { client in
      CallingClientRecord(
        id: client.id, name: client.name, version: client.version, page: client.page)
    }
  }

  /// Returns the caller in a session. Its logger extends `logger`.
  func caller(in session: String, _ logger: Logger?) -> Caller {
    Caller(
      session: session, identity: identity.identity,
      client: client.map { client in
        .init(id: client.id, name: client.name, version: client.version, page: client.page)
      },
      isGuest: isGuest, agent: agent.map { .init(id: $0.id, name: $0.name, version: $0.version) },
      origin: origin, address: address, logger: logger)
  }
}
