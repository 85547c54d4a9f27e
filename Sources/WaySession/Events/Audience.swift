import WayValues

/// The recipients of messages that the app sends.
public enum Audience: Sendable, Hashable {
  /// Every session.
  case all
  /// One session, by its id as in ``SessionInfo/id`` and `Navigator.session`.
  case session(String)
  /// One client of a session, by its name as in ``ClientInfo/id``.
  case client(String, session: String)
  /// The sessions of a user, as in ``Identity/user``.
  case user(String)
  /// The sessions of a group.
  case group(String)
}

// Names are compared as UTF-8 bytes.
extension Audience {
  public static func == (left: Audience, right: Audience) -> Bool {
    left.names == right.names
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(names)
  }

  /// The kind of the audience and what it names.
  private var names: [UTF8Key] {
    switch self {
    case .all: ["all"]
    case .session(let session): ["session", UTF8Key(session)]
    case .client(let client, let session): ["client", UTF8Key(client), UTF8Key(session)]
    case .user(let user): ["user", UTF8Key(user)]
    case .group(let group): ["group", UTF8Key(group)]
    }
  }
}

extension Audience {
  /// The value of `to` in `session.push`.
  var value: Value {
    switch self {
    case .all: ["all": true]
    case .session(let session): ["session": .string(session)]
    case .client(let client, let session):
      ["session": .string(session), "client": .string(client)]
    case .user(let user): ["user": .string(user)]
    case .group(let group): ["group": .string(group)]
    }
  }

  /// The session of the audience; nil if it can have several.
  var session: String? {
    switch self {
    case .session(let session), .client(_, let session): session
    case .all, .user, .group: nil
    }
  }
}
