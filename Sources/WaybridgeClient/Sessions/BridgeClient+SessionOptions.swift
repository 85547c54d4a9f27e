import WayValues

extension BridgeClient {
  /// The description that a client sends when it opens or joins a session.
  public struct SessionOptions: Sendable {
    /// The name of this program in logs and for other clients.
    public var name: String
    /// The program's own version.
    public var version: String
    /// The system that it runs on; nil sends none.
    public var platform: String?
    /// The token by which the app's server authenticates the user; nil sends none.
    public var token: String?
    /// The session to join; nil begins a new one.
    public var join: JoinCredentials?
    /// The id of the page that this client runs in; requires ``join``.
    /// ``BridgeClient/finish(_:page:exts:)`` uses it by default, and calls of its methods
    /// (`page.call`) reach ``methods``.
    public var page: String?
    /// The hosts that this client registers from the start.
    public var hosts: [Host]
    /// The methods that the server may call in this client, by name.
    public var methods: [String: ClientMethod]
    /// What to do when the connection is lost. By default the client reconnects until it is closed.
    public var reconnect: Reconnection

    /// Creates options; by default for a new session without hosts.
    public init(
      name: String, version: String, platform: String? = nil, token: String? = nil,
      join: JoinCredentials? = nil, page: String? = nil, hosts: [Host] = [],
      methods: [String: ClientMethod] = [:],
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

    /// The params of `session.open`, with the current hosts.
    func openParams(hosts: BridgeClientHosts) -> Value {
      let declarations = hosts.declarations
      let params = SessionOpenParams(
        client: .init(name: name, version: version, platform: platform), token: token,
        hosts: declarations.isEmpty ? nil : declarations,
        join: join.map { JoinMessage(session: $0.session, token: $0.token) }, page: page)
      // Only a number that JSON cannot write is an error, and there is none.
      return (try? ValueEncoder().encode(params)) ?? .null
    }
  }

  /// The credentials with which another client joins a session. Give them only to the app's own
  /// pages.
  public struct JoinCredentials: Sendable, Hashable {
    /// The session's id.
    public var session: String
    /// The session's join token.
    public var token: String

    /// Creates credentials, as in ``BridgeClient/SessionDescription/join`` of a client of the
    /// session.
    public init(session: String, token: String) {
      self.session = session
      self.token = token
    }
  }
}

/// The params of `session.open`. Members without a value are left out.
private struct SessionOpenParams: Encodable {
  struct ClientProgram: Encodable {
    let name: String
    let version: String
    let platform: String?
  }

  private enum CodingKeys: String, CodingKey {
    case versions = "protocol"
    case client, token, hosts, join, page
  }

  private let versions = ["1.0"]
  let client: ClientProgram
  let token: String?
  let hosts: [HostDeclaration]?
  let join: JoinMessage?
  let page: String?

  init(
    client: ClientProgram, token: String?, hosts: [HostDeclaration]?, join: JoinMessage?,
    page: String?
  ) {
    self.client = client
    self.token = token
    self.hosts = hosts
    self.join = join
    self.page = page
  }
}

/// The credentials of a session on the wire.
struct JoinMessage: Codable {
  let session: String
  let token: String
}
