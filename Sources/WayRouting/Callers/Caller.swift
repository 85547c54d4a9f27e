import Logging
import WayValues

/// Who makes a call: a client, or the app itself. What a handler calls in turn, by the navigator of
/// its call, is its caller's call as well.
///
/// Immutable, and a class, so that it is handed on as one reference.
public final class Caller: Sendable {
  /// A client of a session.
  public struct Client: Sendable, Hashable {
    /// Its name on the wire.
    public let id: String
    /// What it calls itself; nil where it did not say. Nobody has checked that.
    public let name: String?
    /// The version of that program.
    public let version: String?
    /// The page that it runs in.
    public let page: String?

    /// For tests of a handler.
    public init(id: String, name: String? = nil, version: String? = nil, page: String? = nil) {
      self.id = id
      self.name = name
      self.version = version
      self.page = page
    }
  }

  /// The session that the call belongs to.
  public let session: String
  /// Who the client is. A guest has the user of who invited it, and the groups that the invitation
  /// hands on; the app itself is nobody in particular.
  public let identity: Identity
  /// Nil where the app calls by itself.
  public let client: Client?
  /// Whether the client was invited, and so may do less than other members of the session.
  public let isGuest: Bool
  /// The origin of the page that the client runs in, as the browser tells it; nil for what is no
  /// page.
  public let origin: String?
  /// The address that the client comes from, without a port, or `unix`; nil inside the process.
  public let address: String?
  private let base: Logger?

  /// Also for tests of a handler; `logger` is what ``logger`` adds to.
  public init(
    session: String, identity: Identity = Identity(), client: Client? = nil, isGuest: Bool = false,
    origin: String? = nil, address: String? = nil, logger: Logger? = nil
  ) {
    self.session = session
    self.identity = identity
    self.client = client
    self.isGuest = isGuest
    self.origin = origin
    self.address = address
    base = logger
  }

  /// The bridge's logger, which tells with each line who calls. Without one, it tells nothing.
  public var logger: Logger {
    guard var logger = base else {
      return Logger(label: "waybridge") { _ in SwiftLogNoOpLogHandler() }
    }
    logger[metadataKey: "session"] = "\(session)"
    if let client { logger[metadataKey: "client"] = "\(client.id)" }
    if let user = identity.user { logger[metadataKey: "user"] = "\(user)" }
    if let origin { logger[metadataKey: "origin"] = "\(origin)" }
    return logger
  }

  /// As hosts are told it, with `page.open` and `task.run`.
  package var value: Value {
    var members = ValueObject()
    members.reserveCapacity(6)
    members["session"] = .string(session)
    members["client"] = client?.value
    members["user"] = identity.user.map(Value.string)
    if !identity.groups.isEmpty {
      members["groups"] = .list(identity.groups.sorted().map(Value.string))
    }
    members["origin"] = origin.map(Value.string)
    if isGuest { members["guest"] = true }
    return .object(members)
  }
}

extension Caller.Client {
  /// As hosts are told it.
  package var value: Value {
    var members = ValueObject()
    members.reserveCapacity(4)
    members["id"] = .string(id)
    members["name"] = name.map(Value.string)
    members["version"] = version.map(Value.string)
    members["page"] = page.map(Value.string)
    return .object(members)
  }
}
