import WayRPC
import WayTransport
import WayValues

/// The params of `session.open`.
struct SessionOpenRequest: Sendable {
  let hosts: [SessionHostDefinition]
  let join: JoinParams?
  /// How the client joins a session as an agent; nil if it is none.
  let agent: AgentParams?
  let page: String?
  let software: ClientSoftware
  let token: String?
  /// The reason why the client could not resume and opens a session instead; nil if it did not try.
  var resumeRejection: ResumeRejection.ResumeRejectionReason?

  /// The session that the client joins.
  struct JoinParams: Sendable {
    let session: String
    let token: PresentedToken
  }

  /// The session of its user that an agent joins. Without such a session it gets one of its own.
  struct AgentParams: Sendable {
    /// The session; nil for the newest one that serves ``uri``.
    let session: String?
    /// The URI that the agent is about to call.
    let uri: String?
  }

  /// Bytes of each string in `client`, which the server holds as long as the client.
  private static let maxSoftwareLength = 256

  /// A later client may send other members to this server.
  static let paramList = ParamList(
    [
      Param(.protocol, .list), Param(.client, .object), Param(.token, .string),
      Param(.hosts, .list), Param(.join, .object), Param(.page, .string),
      Param(.agent, .object),
    ], ignoresOthers: true)

  private static let versionParamList = ParamList(
    [Param(.protocol, .list)], ignoresOthers: true)

  /// Throws -32602, with `kind` "version" if the client offers no supported protocol version. If
  /// `digest` is given, another server has replaced the tokens (``RelayedTokens``).
  init(
    _ request: Request, limits: Limits, digest: PresentedToken.TokenDigest? = nil
  ) throws(CallError) {
    // The version is checked first because a later version's params may have other types.
    let version = try Params(request.params, of: request.method, taking: Self.versionParamList)
    if let offered = version.list(.protocol),
      !offered.contains(.string(ServerSoftware.protocolVersion))
    {
      throw CallError(
        .invalidParams,
        "params.protocol: this server speaks \(ServerSoftware.protocolVersion) only",
        kind: "version")
    }
    let params = try Params(request.params, of: request.method, taking: Self.paramList)
    software = try Self.software(params.object(.client) ?? [:])
    token = params.string(.token)
    hosts = try SessionHostDefinition.parse(params.list(.hosts) ?? [], limit: limits.maxHosts)
    if let join = params.object(.join) {
      guard let session = join["session"]?.string, let token = join["token"]?.string else {
        throw .invalidParams("params.join must be an object {session, token} of two strings")
      }
      self.join = JoinParams(
        session: session, token: PresentedToken(token, digest: digest, in: session))
    } else {
      join = nil
    }
    agent = try Self.agent(params.object(.agent), joins: join != nil)
    page = params.string(.page)
    if page != nil, join == nil {
      throw .invalidParams("params.page needs params.join: a new session has no pages")
    }
  }

  private static func agent(
    _ agent: ValueObject?, joins: Bool
  ) throws(CallError) -> AgentParams? {
    guard let agent else { return nil }
    if joins {
      throw .invalidParams("params.agent: an agent joins by its token; leave out params.join")
    }
    func text(_ name: String) throws(CallError) -> String? {
      guard let value = agent[name] else { return nil }
      guard let text = value.string else {
        throw .invalidParams("params.agent.\(name) must be a string")
      }
      return text
    }
    return AgentParams(session: try text("session"), uri: try text("uri"))
  }

  private static func software(_ client: ValueObject) throws(CallError) -> ClientSoftware {
    func text(_ name: String) throws(CallError) -> String? {
      guard let value = client[name], !value.isNull else { return nil }
      guard let text = value.string, text.utf8.count <= maxSoftwareLength else {
        throw .invalidParams(
          "params.client.\(name) must be a string of at most \(maxSoftwareLength) bytes")
      }
      return text
    }
    return ClientSoftware(
      name: try text("name"), version: try text("version"), platform: try text("platform"))
  }
}
