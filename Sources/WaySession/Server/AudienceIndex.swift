import WayRouting
import WayValues

/// Whose the sessions are, found by user and by group. Names are compared as UTF-8 bytes: `é` in
/// one form is not `é` in another.
struct AudienceIndex {
  private struct Entry {
    let user: UTF8Key?
    var groups: Set<UTF8Key>
  }

  private var entries: [String: Entry] = [:]
  private var users: [UTF8Key: Set<String>] = [:]
  private var groups: [UTF8Key: Set<String>] = [:]

  mutating func add(_ session: String, _ identity: Identity) {
    let entry = Entry(
      user: identity.user.map(UTF8Key.init), groups: Set(identity.groups.map(UTF8Key.init)))
    entries[session] = entry
    if let user = entry.user { users[user, default: []].insert(session) }
    for group in entry.groups { groups[group, default: []].insert(session) }
  }

  /// The session is somebody anew; the groups that the app has put it into it stays in.
  mutating func change(_ session: String, _ identity: Identity) {
    guard let entry = entries[session] else { return }
    var identity = identity
    identity.groups.formUnion(entry.groups.map(\.text))
    remove(session)
    add(session, identity)
  }

  mutating func remove(_ session: String) {
    guard let entry = entries.removeValue(forKey: session) else { return }
    if let user = entry.user { Self.remove(session, from: &users, user) }
    for group in entry.groups { Self.remove(session, from: &groups, group) }
  }

  /// Puts a session into a group; false when there is no such session.
  mutating func add(_ session: String, toGroup name: String) -> Bool {
    guard entries[session] != nil else { return false }
    let group = UTF8Key(name)
    entries[session]?.groups.insert(group)
    groups[group, default: []].insert(session)
    return true
  }

  /// Takes a session out of a group, where it is in it; false when there is no such session.
  mutating func remove(_ session: String, fromGroup name: String) -> Bool {
    guard entries[session] != nil else { return false }
    let group = UTF8Key(name)
    entries[session]?.groups.remove(group)
    Self.remove(session, from: &groups, group)
    return true
  }

  /// The ids of the sessions that an audience means; of one that is named, whether or not it is
  /// there.
  func sessions(in audience: Audience) -> [String] {
    switch audience {
    case .all: Array(entries.keys)
    case .session(let id), .client(_, session: let id): [id]
    case .user(let name): Array(users[UTF8Key(name)] ?? [])
    case .group(let name): Array(groups[UTF8Key(name)] ?? [])
    }
  }

  /// Whether a session belongs to an audience; a named client's does.
  func contains(_ session: String, in audience: Audience) -> Bool {
    if case .client(let name, session: _) = audience {
      return contains(session, client: name, in: audience)
    }
    return contains(session, client: "", in: audience)
  }

  /// Whether a client of a session belongs to an audience.
  func contains(_ session: String, client: String, in audience: Audience) -> Bool {
    switch audience {
    case .all: true
    case .session(let id): id == session
    case .client(let name, session: let id): id == session && name == client
    case .user(let name): entries[session]?.user == UTF8Key(name)
    case .group(let name): entries[session]?.groups.contains(UTF8Key(name)) ?? false
    }
  }

  func identity(of session: String) -> Identity {
    guard let entry = entries[session] else { return Identity() }
    return Identity(user: entry.user?.text, groups: Set(entry.groups.map(\.text)))
  }

  private static func remove(
    _ session: String, from index: inout [UTF8Key: Set<String>], _ name: UTF8Key
  ) {
    index[name]?.remove(session)
    if index[name]?.isEmpty == true { index[name] = nil }
  }
}
