import WayRPC
import WayValues

/// The params of `session.open`.
struct Hello: Sendable {
  let hosts: [HostDefinition]
  let join: (session: String, token: String)?
  let page: String?
  /// What the client calls itself: `name`, `version`, `platform`.
  let software: ValueObject
  let token: String?

  /// Bytes of each text of `client`, which is kept as long as the client.
  private static let maxSoftware = 256

  /// Fails with -32602, and `kind` "version" where no common protocol version was offered.
  init(_ request: Request, limits: Limits) throws(RPCError) {
    let params = try MethodParams(request)
    if let offered = try params.list("protocol"),
      !offered.contains(.string(BridgeSettings.protocolVersion))
    {
      throw RPCError(
        .invalidParams,
        "params.protocol: this server speaks \(BridgeSettings.protocolVersion) only",
        kind: "version")
    }
    software = try Self.software(params)
    token = try params.optionalString("token")
    hosts = try HostDefinition.list(params.list("hosts") ?? [], limits: limits)
    if let join = try params.object("join") {
      guard let session = join["session"]?.string, let token = join["token"]?.string else {
        throw .invalidParams("params.join must be an object {session, token} of two strings")
      }
      self.join = (session, token)
    } else {
      join = nil
    }
    page = try params.optionalString("page")
    if page != nil, join == nil {
      throw .invalidParams("params.page needs params.join: a new session has no pages")
    }
  }

  private static func software(_ params: MethodParams) throws(RPCError) -> ValueObject {
    var software = ValueObject()
    guard let client = try params.object("client") else { return software }
    for name in ["name", "version", "platform"] {
      guard let value = client[name], !value.isNull else { continue }
      guard let text = value.string, text.utf8.count <= maxSoftware else {
        throw .invalidParams(
          "params.client.\(name) must be a string of at most \(maxSoftware) bytes")
      }
      software[name] = value
    }
    return software
  }
}
