import WayRouting
import WayValues

/// The identities of sessions, indexed by user and by group. Names are compared as UTF-8 bytes: `é`
/// in one form is not `é` in another.
struct AudienceIndex {
  private struct IndexedIdentity {
    let user: UTF8Key?
    var groups: Set<UTF8Key>
  }

  private var identities: [String: IndexedIdentity] = [:]
  private var users: [UTF8Key: Set<String>] = [:]
  private var groups: [UTF8Key: Set<String>] = [:]

  mutating func add(_ session: String, _ identity: Identity) {
    let entry = IndexedIdentity(
      user: identity.user.map(UTF8Key.init), groups: identity.groups)
    identities[session] = entry
    if let user = entry.user { users[user, default: []].insert(session) }
    for group in entry.groups { groups[group, default: []].insert(session) }
  }

  /// Changes the identity of a session. It stays in the groups that the app has added it to.
  mutating func change(_ session: String, _ identity: Identity) {
    guard let entry = identities[session] else { return }
    var identity = identity
    identity.groups.formUnion(entry.groups)
    remove(session)
    add(session, identity)
  }

  mutating func remove(_ session: String) {
    guard let entry = identities.removeValue(forKey: session) else { return }
    if let user = entry.user { Self.remove(session, from: &users, user) }
    for group in entry.groups { Self.remove(session, from: &groups, group) }
  }

  /// Adds a session to a group; returns false if there is no such session.
  mutating func add(_ session: String, toGroup name: String) -> Bool {
    guard identities[session] != nil else { return false }
    let group = UTF8Key(name)
    identities[session]?.groups.insert(group)
    groups[group, default: []].insert(session)
    return true
  }

  /// Removes a session from a group if it is in it; returns false if there is no such session.
  mutating func remove(_ session: String, fromGroup name: String) -> Bool {
    guard identities[session] != nil else { return false }
    let group = UTF8Key(name)
    identities[session]?.groups.remove(group)
    Self.remove(session, from: &groups, group)
    return true
  }

  /// The ids of the sessions in an audience. A session that the audience names is included even if
  /// it does not exist.
  func sessions(in audience: Audience) -> Set<String> {
    switch audience {
    case .all: Set(identities.keys)
    case .session(let id), .client(_, session: let id): [id]
    case .user(let name): users[UTF8Key(name)] ?? []
    case .group(let name): groups[UTF8Key(name)] ?? []
    }
  }

  /// Whether a session belongs to an audience. The session of a named client does.
  /// `client` limits that to the client with this name.
  func contains(_ session: String, client: String? = nil, in audience: Audience) -> Bool {
    audience.includes(
      session, client: client, of: identities[session]?.user,
      in: identities[session]?.groups ?? [])
  }

  func identity(of session: String) -> Identity {
    guard let entry = identities[session] else { return Identity() }
    return Identity(user: entry.user?.text, groups: entry.groups)
  }

  private static func remove(
    _ session: String, from index: inout [UTF8Key: Set<String>], _ name: UTF8Key
  ) {
    index[name]?.remove(session)
    if index[name]?.isEmpty == true { index[name] = nil }
  }
}
