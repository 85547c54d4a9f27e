import Logging
import WayValues

/// The caller of a route: a client, or the app itself. Calls that a handler makes through the
/// navigator of its call have the same caller.
///
/// Immutable, and a class, so that it is passed on as one reference.
public final class Caller: Sendable {
  /// A client of a session.
  public struct CallingClient: Sendable, Hashable {
    /// The client's id on the wire.
    public let id: String
    /// The name that the client reports; `nil` if it reported none. The server does not verify it.
    public let name: String?
    /// The version that the client reports.
    public let version: String?
    /// The id of the page that the client runs in.
    public let page: String?

    /// Creates a client, for tests of a handler.
    public init(id: String, name: String? = nil, version: String? = nil, page: String? = nil) {
      self.id = id
      self.name = name
      self.version = version
      self.page = page
    }
  }

  /// An AI agent that acts for a user. Its ``Caller/identity`` is that of its own token: of the user
  /// whom the token names, with the groups that the token gives the agent.
  public struct CallingAgent: Sendable, Hashable {
    /// The client id in the agent's token, which the issuer of the token has verified; `nil` if the
    /// token names none.
    public let id: String?
    /// The name that the agent reports; `nil` if it reported none. The server does not verify it.
    public let name: String?
    /// The version that the agent reports.
    public let version: String?

    /// Creates an agent, for tests of a handler.
    public init(id: String? = nil, name: String? = nil, version: String? = nil) {
      self.id = id
      self.name = name
      self.version = version
    }
  }

  /// The id of the session that the call belongs to.
  public let session: String
  /// The client's identity. A guest has the user of the client that invited it, and the groups that
  /// the invitation passes on. The identity of the app itself is empty.
  public let identity: Identity
  /// The client that calls; `nil` if the app itself calls.
  public let client: CallingClient?
  /// Whether the client was invited, or is an agent, and so has fewer rights than other clients of the
  /// session.
  public let isGuest: Bool
  /// The agent that calls for the user; `nil` if the client is none.
  public let agent: CallingAgent?
  /// The origin of the page that the client runs in, as the browser reports it; `nil` for a client
  /// that is no page.
  public let origin: String?
  /// The network address of the client, without a port, or `unix`; `nil` inside the process.
  public let address: String?
  private let baseLogger: Logger?

  /// Creates a caller, also for tests of a handler. `logger` is the base of ``logger``.
  public init(
    session: String, identity: Identity = Identity(), client: CallingClient? = nil,
    isGuest: Bool = false, agent: CallingAgent? = nil,
    origin: String? = nil, address: String? = nil, logger: Logger? = nil
  ) {
    self.session = session
    self.identity = identity
    self.client = client
    self.isGuest = isGuest
    self.agent = agent
    self.origin = origin
    self.address = address
    baseLogger = logger
  }

  /// The bridge's logger, which adds the caller to each line. Without one, nothing is logged.
  public var logger: Logger {
    guard var logger = baseLogger else {
      return Logger(label: "waybridge") { _ in SwiftLogNoOpLogHandler() }
    }
    logger[metadataKey: "session"] = "\(session)"
    if let client { logger[metadataKey: "client"] = "\(client.id)" }
    if let user = identity.user { logger[metadataKey: "user"] = "\(user)" }
    if let address { logger[metadataKey: "address"] = "\(address)" }
    if let origin { logger[metadataKey: "origin"] = "\(origin)" }
    return logger
  }

  /// The caller as hosts receive it with `page.open` and `task.run`.
  package var value: Value {
    var members = ValueObject()
    members.reserveCapacity(6)
    members["session"] = .string(session)
    members["client"] = client?.value
    members["user"] = identity.user.map(Value.string)
    if !identity.groups.isEmpty {
      members["groups"] = identity.groups.sortedValue
    }
    members["origin"] = origin.map(Value.string)
    if isGuest { members["guest"] = true }
    members["agent"] = agent?.value(for: identity.user)
    return .object(members)
  }
}

extension Caller.CallingAgent {
  /// The agent as hosts receive it. `user` is whom it acts for.
  package func value(for user: String?) -> Value {
    var members = ValueObject()
    members["id"] = id.map(Value.string)
    members["name"] = name.map(Value.string)
    members["version"] = version.map(Value.string)
    members["for"] = user.map(Value.string)
    return .object(members)
  }
}

extension Caller.CallingClient {
  /// The client as hosts receive it.
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
