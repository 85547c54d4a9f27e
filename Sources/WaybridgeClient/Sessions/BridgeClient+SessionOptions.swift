import WayValues

extension BridgeClient {
  /// What a client says of itself when it opens or joins a session.
  public struct SessionOptions: Sendable {
    /// How logs and other clients name this program; its version is for people.
    public var name: String
    /// The program's own version.
    public var version: String
    /// The system that it runs on; nil tells none.
    public var platform: String?
    /// What the app's server identifies users by; nil sends none.
    public var token: String?
    /// The session to become a member of; nil begins a new one.
    public var join: Join?
    /// The id of the page that this client runs in, which needs ``join``.
    /// ``BridgeClient/finish(_:page:exts:)`` means it, and calls of its methods (`page.call`) reach
    /// ``methods``.
    public var page: String?
    /// What this client shows and runs from the start.
    public var hosts: [Host]
    /// What the server may call in this client, by name.
    public var methods: [String: Method]
    /// What to do when the connection is lost: unless told otherwise, the client connects again for
    /// as long as it is not closed.
    public var reconnect: Reconnection

    /// A new session without hosts, where nothing else is given.
    public init(
      name: String, version: String, platform: String? = nil, token: String? = nil,
      join: Join? = nil, page: String? = nil, hosts: [Host] = [], methods: [String: Method] = [:],
      reconnect: Reconnection = .automatic()
    ) {
      self.name = name
      self.version = version
      self.platform = platform
      self.token = token
      self.join = join
      self.page = page
      self.hosts = hosts
      self.methods = methods
      self.reconnect = reconnect
    }

    /// The params of `session.open`, with the hosts of now.
    func value(hosts: BridgeClientHosts) -> Value {
      var client: ValueObject = ["name": .string(name), "version": .string(version)]
      client["platform"] = platform.map(Value.string)
      var params: ValueObject = ["protocol": ["1.0"], "client": .object(client)]
      params["token"] = token.map(Value.string)
      if !hosts.values.isEmpty { params["hosts"] = .list(hosts.values) }
      params["join"] = join.map { ["session": .string($0.session), "token": .string($0.token)] }
      params["page"] = page.map(Value.string)
      return .object(params)
    }
  }

  /// With this another client becomes a member of a session. Hand it only to the app's own pages.
  public struct Join: Sendable, Hashable {
    /// The session's id.
    public var session: String
    /// The session's join token.
    public var token: String

    /// As ``BridgeClient/Session/join`` of a member gives it.
    public init(session: String, token: String) {
      self.session = session
      self.token = token
    }
  }
}
