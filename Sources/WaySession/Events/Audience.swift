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

  /// Decodes the value of `to`: `{session}`, optionally with `client`, `{user}`, `{group}` or
  /// `{all: true}`. Throws -32602.
  init(_ value: Value?) throws(CallError) {
    let fields = value?.object ?? [:]
    switch fields.members.map({ ($0.name, $0.value) }) {
    case let members where members.count == 2:
      guard let id = fields["session"]?.string, let client = fields["client"]?.string else {
        throw .invalidAudience
      }
      self = .client(client, session: id)
    case let members where members.count == 1:
      switch members[0] {
      case ("session", .string(let id)): self = .session(id)
      case ("user", .string(let name)): self = .user(name)
      case ("group", .string(let name)): self = .group(name)
      case ("all", true): self = .all
      default: throw .invalidAudience
      }
    default: throw .invalidAudience
    }
  }

  /// Whether a session of this user and these groups belongs to it. The session of a named client
  /// does; `client` limits that to the client with this name.
  func includes(
    _ session: String, client: String? = nil, of user: @autoclosure () -> UTF8Key?,
    in groups: @autoclosure () -> Set<UTF8Key>
  ) -> Bool {
    switch self {
    case .all: true
    case .session(let id): id == session
    case .client(let name, session: let id):
      id == session && client.map(name.isSameUTF8(as:)) != false
    case .user(let name): user() == UTF8Key(name)
    case .group(let name): groups().contains(UTF8Key(name))
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

// The value of `to`.
extension Audience: Codable {
  /// Decodes the value of `to` in `session.push`.
  public init(from decoder: any Decoder) throws { try self.init(Value(from: decoder)) }

  /// Encodes the value of `to` in `session.push`.
  public func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

extension CallError {
  fileprivate static var invalidAudience: CallError {
    .invalidParams(
      "params.to must be {session}, {session, client}, {user}, {group} or {all: true}")
  }
}
