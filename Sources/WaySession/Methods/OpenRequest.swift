import WayRPC
import WayValues

/// What a client says with `session.open`.
struct OpenRequest: Sendable {
  let hosts: [HostDefinition]
  let join: Join?
  let page: String?
  let software: ClientSoftware
  let token: String?
  /// Why the client begins anew, where it would have resumed.
  var refusal: ClientResume.Refusal?

  /// The session that it joins.
  struct Join: Sendable {
    let session: String
    let token: String
  }

  /// Bytes of each text of `client`, which is kept as long as the client.
  private static let maxSoftware = 256

  static let takes: ParamList = [
    Param(.protocol, .list), Param(.client, .object), Param(.token, .string),
    Param(.hosts, .list), Param(.join, .object), Param(.page, .string),
  ]

  private static let takesFirst: ParamList = [Param(.protocol, .list)]

  /// Fails with -32602, and `kind` "version" where no common protocol version was offered.
  init(_ request: Request, limits: Limits) throws(CallError) {
    // First of all, since a later version's other params may be of other types.
    let version = try Params(request.params, of: request.method, taking: Self.takesFirst)
    if let offered = version.list(.protocol),
      !offered.contains(.string(ServerSoftware.protocolVersion))
    {
      throw CallError(
        .invalidParams,
        "params.protocol: this server speaks \(ServerSoftware.protocolVersion) only",
        kind: "version")
    }
    let params = try Params(request.params, of: request.method, taking: Self.takes)
    software = try Self.software(params.object(.client) ?? [:])
    token = params.string(.token)
    hosts = try HostDefinition.list(params.list(.hosts) ?? [], limit: limits.maxHosts)
    if let join = params.object(.join) {
      guard let session = join["session"]?.string, let token = join["token"]?.string else {
        throw .invalidParams("params.join must be an object {session, token} of two strings")
      }
      self.join = Join(session: session, token: token)
    } else {
      join = nil
    }
    page = params.string(.page)
    if page != nil, join == nil {
      throw .invalidParams("params.page needs params.join: a new session has no pages")
    }
  }

  private static func software(_ client: ValueObject) throws(CallError) -> ClientSoftware {
    func text(_ name: String) throws(CallError) -> String? {
      guard let value = client[name], !value.isNull else { return nil }
      guard let text = value.string, text.utf8.count <= maxSoftware else {
        throw .invalidParams(
          "params.client.\(name) must be a string of at most \(maxSoftware) bytes")
      }
      return text
    }
    return ClientSoftware(
      name: try text("name"), version: try text("version"), platform: try text("platform"))
  }
}
