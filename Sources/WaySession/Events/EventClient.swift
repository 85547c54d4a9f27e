import WayRouting
import WayTransport

/// The client that an event or an audit record is about, as far as the server knows it. All strings
/// but ``session`` and ``id`` are data of the client or of the app that authenticates it.
public struct EventClient: Sendable, Hashable {
  /// The id of the client's session; `nil` before it has one.
  public var session: String?
  /// The client's id on the wire; `nil` before it has one.
  public var id: String?
  /// The name that the client reports.
  public var name: String?
  /// The user, as in ``Identity/user``. A guest has the user of the client that invited it.
  public var user: String?
  /// The network address without a port, or `unix`; `nil` inside the process.
  public var address: String?
  /// The origin of the client's page; `nil` for a client that is no page.
  public var origin: String?
  /// Whether the client was invited, or is an agent.
  public var isGuest: Bool
  /// The agent that the client is; `nil` if it is none.
  public var agent: Caller.CallingAgent?

  /// Creates a description of a client.
  public init(
    session: String? = nil, id: String? = nil, name: String? = nil, user: String? = nil,
    address: String? = nil, origin: String? = nil, isGuest: Bool = false,
    agent: Caller.CallingAgent? = nil
  ) {
    self.session = session
    self.id = id
    self.name = name
    self.user = user
    self.address = address
    self.origin = origin
    self.isGuest = isGuest
    self.agent = agent
  }

  /// Describes the client that makes a call. Returns `nil` if the app itself makes it.
  package init?(_ caller: Caller) {
    guard let client = caller.client else { return nil }
    self.init(
      session: caller.session, id: client.id, name: client.name, user: caller.identity.user,
      address: caller.address, origin: caller.origin, isGuest: caller.isGuest,
      agent: caller.agent)
  }

  /// Describes a client that has no session. `user` is `nil` if the client is not authenticated.
  package init(_ handshake: Handshake, user: String? = nil) {
    self.init(user: user, address: handshake.address, origin: handshake.origin)
  }
}
