import WayValues

extension BridgeClient {
  /// The caller of a task, method or page of this client, as the server describes it.
  public struct CallerDescription: Sendable, Hashable {
    /// The session of the call; it differs from the client's own session if the client hosts for
    /// all sessions.
    public let session: String
    /// The calling client; nil if the app itself calls.
    public let client: ClientDescription?
    /// The user; nil if the caller is not authenticated.
    public let user: String?
    /// The groups of the user that the caller acts for.
    public let groups: [String]
    /// The origin of the page that the caller runs in; nil if the caller is not a web page.
    public let origin: String?
    /// Whether the caller is a guest, with limited rights.
    public let isGuest: Bool
    /// The AI agent that calls for the user; nil if the caller is none.
    public let agent: AgentDescription?

    /// An AI agent that acts for a user.
    public struct AgentDescription: Sendable, Hashable, Decodable {
      /// The client id in its token; nil if the token names none.
      public let id: String?
      /// The agent's own name; unverified.
      public let name: String?
      /// The version of the agent.
      public let version: String?

      /// Creates an agent, for tests of a host.
      public init(id: String? = nil, name: String? = nil, version: String? = nil) {
        self.id = id
        self.name = name
        self.version = version
      }
    }

    /// A client of a session.
    public struct ClientDescription: Sendable, Hashable {
      /// The client's id on the wire.
      public let id: String
      /// The client's own name for its program; unverified.
      public let name: String?
      /// The version of that program.
      public let version: String?
      /// The page that it runs in.
      public let page: String?

      /// Creates a client, for tests of a host.
      public init(id: String, name: String? = nil, version: String? = nil, page: String? = nil) {
        self.id = id
        self.name = name
        self.version = version
        self.page = page
      }
    }

    /// Creates a caller, for tests of a host.
    public init(
      session: String, client: ClientDescription? = nil, user: String? = nil, groups: [String] = [],
      origin: String? = nil, isGuest: Bool = false, agent: AgentDescription? = nil
    ) {
      self.session = session
      self.client = client
      self.user = user
      self.groups = groups
      self.origin = origin
      self.isGuest = isGuest
      self.agent = agent
    }

    /// Decodes a caller; nil if the server sends none.
    init?(_ value: Value?) {
      guard let message = try? value?.decode(as: CallerMessage.self) else { return nil }
      self.init(
        session: message.session,
        client: message.client.map { client in
          ClientDescription(
            id: client.id, name: client.name, version: client.version, page: client.page)
        },
        user: message.user, groups: message.groups ?? [], origin: message.origin,
        isGuest: message.guest ?? false, agent: message.agent)
    }
  }
}

/// A caller as the server sends it.
private struct CallerMessage: Decodable {
  struct ClientMessage: Decodable {
    let id: String
    let name: String?
    let version: String?
    let page: String?
  }

  let session: String
  let client: ClientMessage?
  let user: String?
  let groups: [String]?
  let origin: String?
  let guest: Bool?
  let agent: BridgeClient.CallerDescription.AgentDescription?
}
