import WayValues

/// Whom the app's side speaks to.
public enum Audience: Sendable, Hashable {
  /// Every session.
  case all
  /// One session, by its id, as ``SessionInfo/id`` and `Navigator.session` tell it.
  case session(String)
  /// One client of a session, by its name, as ``ClientInfo/id`` tells it.
  case client(String, session: String)
  /// The sessions of a user, as ``Identity/user`` names it.
  case user(String)
  /// The sessions of a group.
  case group(String)
}

extension Audience {
  /// As `session.push` takes it.
  var told: Value {
    switch self {
    case .all: ["all": true]
    case .session(let session): ["session": .string(session)]
    case .client(let client, let session):
      ["session": .string(session), "client": .string(client)]
    case .user(let user): ["user": .string(user)]
    case .group(let group): ["group": .string(group)]
    }
  }

  /// The session of a client, or that which it names; nil for those of any number.
  var session: String? {
    switch self {
    case .session(let session), .client(_, let session): session
    case .all, .user, .group: nil
    }
  }
}
