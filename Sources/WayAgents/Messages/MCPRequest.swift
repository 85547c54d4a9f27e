import WayRPC
import WayValues

/// A revision of the Model Context Protocol.
package enum MCPRevision: String, Sendable {
  /// Each request carries all that the server needs to know.
  case stateless = "2026-07-28"
  /// Clients begin with `initialize`. Sessions are optional in it, and the server has none.
  case handshake = "2025-11-25"
}

/// A request of an agent's client.
package struct MCPRequest: Sendable, Hashable {
  /// What a request asks for.
  package enum Operation: Sendable, Hashable {
    /// `initialize`.
    case initialize
    /// `ping`.
    case ping
    /// `server/discover`.
    case discover
    /// `tools/list`, from a cursor on.
    case listTools(cursor: String?)
    /// `tools/call`.
    case callTool(MCPToolCall)
    /// `subscriptions/listen`, with whether it is to report changes of the tools.
    case listen(toToolChanges: Bool)

    /// Whether the response is always a stream of events.
    package var needsEvents: Bool { if case .listen = self { true } else { false } }
  }

  /// The id, which is a string or an integer.
  package let id: RequestID
  /// The revision that the response has to follow.
  package let revision: MCPRevision
  /// What the client says of itself; `nil` if it says nothing.
  package let client: MCPImplementation?
  /// What notifications about the request's progress name, a string or an integer; `nil` for none.
  package let progressToken: RequestID?
  /// What the request asks for.
  package let operation: Operation
}

/// A name and a version of a program: of the client, or of the server.
package struct MCPImplementation: Sendable, Hashable, Codable {
  /// The maximum number of bytes of each text of a client.
  static let maxLength = 256

  /// The name.
  package let name: String
  /// The version.
  package let version: String

  /// Creates the description of a program.
  package init(name: String, version: String) {
    self.name = name
    self.version = version
  }
}

/// The call of a tool.
package struct MCPToolCall: Sendable, Hashable {
  /// The name of the tool.
  package let name: String
  /// The arguments.
  package let arguments: ValueObject
  /// The idempotency key, `waybridge/key` of `_meta`: calls with the same key are made once.
  package let key: String?
}

/// What the body of a POST contains.
package enum MCPBody: Sendable, Hashable {
  case request(MCPRequest)
  /// A notification, which needs no response. The server acts on none.
  case notification

  /// Reads a body. The checks are those of the revision, in this order: the JSON-RPC message, its
  /// `_meta`, the header fields, the revision, the method, the params.
  package init(_ body: RawSpan, _ head: MCPRequestHead) throws(MCPRejection) {
    switch MessageDecoder().decode(body) {
    case .malformed(let error) where error.protocolCode == .parseError:
      throw .parseError(error.message)
    case .malformed(let error): throw .invalidRequest(error.message)
    case .batch: throw .invalidRequest("the body must be one message, not a batch")
    case .message(.notification): self = .notification
    case .message(.response):
      throw .invalidRequest("the body must be a request or a notification, not a response")
    case .message(.invalid(let id, let error)):
      var rejection =
        error.protocolCode == .parseError
        ? MCPRejection.parseError(error.message) : .invalidRequest(error.message)
      rejection.id = id.isOfMCP ? id : nil
      throw rejection
    case .message(.request(let request)):
      guard request.id.isOfMCP else {
        throw .invalidRequest("the id must be a string or an integer")
      }
      self = .request(try MCPRequest(request, head))
    }
  }
}

extension MCPRequest {
  fileprivate init(_ request: Request, _ head: MCPRequestHead) throws(MCPRejection) {
    let revision = Self.revision(of: request, head)
    do throws(MCPRejection) {
      let meta = try RequestMeta(request.params?["_meta"])
      if revision == .stateless { try meta.check(request, head) }
      id = request.id
      self.revision = revision
      client = meta.clientInfo
      progressToken = meta.progressToken
      operation = try Operation(request, revision, key: meta.key)
    } catch {
      throw error.of(request.id, revision)
    }
  }

  /// The revision that a request follows: the older one if neither its header nor its `_meta` names
  /// another.
  private static func revision(of request: Request, _ head: MCPRequestHead) -> MCPRevision {
    if request.params?["_meta"]?[RequestMeta.versionName] != nil { return .stateless }
    return switch head.version {
    case .missing: .handshake
    case .value(let version): olderVersions.contains(version) ? .handshake : .stateless
    case .repeated: .stateless
    }
  }

  /// The revisions with `initialize`.
  private static let olderVersions = [
    "2024-11-05", "2025-03-26", "2025-06-18", MCPRevision.handshake.rawValue,
  ]
}

extension MCPRequest.Operation {
  fileprivate init(
    _ request: Request, _ revision: MCPRevision, key: String?
  ) throws(MCPRejection) {
    let params = request.params ?? [:]
    switch (request.method, revision) {
    case ("initialize", .handshake): self = .initialize
    case ("ping", .handshake): self = .ping
    case ("server/discover", .stateless): self = .discover
    case ("tools/list", _):
      self = .listTools(cursor: try params.params(ListParams.self).cursor)
    case ("tools/call", _):
      if params["arguments"]?.isNull == true {
        throw .invalidParams("params.arguments must be an object, not null")
      }
      let call = try params.params(ToolCallParams.self)
      self = .callTool(
        MCPToolCall(name: call.name, arguments: call.arguments ?? [:], key: key))
    case ("subscriptions/listen", .stateless):
      let listen = try params.params(ListenParams.self)
      self = .listen(toToolChanges: listen.notifications.toolsListChanged ?? false)
    default: throw .methodNotFound(request.method)
    }
  }

  private struct ListParams: Decodable {
    let cursor: String?
  }

  private struct ToolCallParams: Decodable {
    let name: String
    let arguments: ValueObject?
  }

  private struct ListenParams: Decodable {
    struct WantedNotifications: Decodable {
      let toolsListChanged: Bool?
    }
    let notifications: WantedNotifications
  }
}

/// The members of a request's `_meta` that have a meaning here.
private struct RequestMeta: Decodable {
  static let versionName = CodingKeys.protocolVersion.rawValue

  let protocolVersion: String?
  let clientCapabilities: ValueObject?
  let clientInfo: MCPImplementation?
  let progressToken: RequestID?
  let key: String?

  enum CodingKeys: String, CodingKey {
    case protocolVersion = "io.modelcontextprotocol/protocolVersion"
    case clientCapabilities = "io.modelcontextprotocol/clientCapabilities"
    case clientInfo = "io.modelcontextprotocol/clientInfo"
    case progressToken
    case key = "waybridge/key"
  }

  init(_ value: Value?) throws(MCPRejection) {
    self = try (value ?? [:]).params(Self.self, at: "params._meta")
    if let progressToken, !progressToken.isOfMCP {
      throw .invalidParams("params._meta.progressToken must be a string or an integer")
    }
    for text in [clientInfo?.name, clientInfo?.version]
    where text.map({ $0.utf8.count > MCPImplementation.maxLength }) == true {
      throw .invalidParams(
        "the name and the version in \(CodingKeys.clientInfo.rawValue) must have at most "
          + "\(MCPImplementation.maxLength) bytes")
    }
  }

  /// Checks the members that the stateless revision needs, and the header fields that repeat them.
  func check(_ request: Request, _ head: MCPRequestHead) throws(MCPRejection) {
    guard let protocolVersion else { throw .missing(.protocolVersion) }
    guard clientCapabilities != nil else { throw .missing(.clientCapabilities) }
    try head.version.check("MCP-Protocol-Version", protocolVersion)
    try head.method.check("Mcp-Method", request.method)
    if request.method == "tools/call", let name = request.params?["name"]?.string {
      try head.name.check("Mcp-Name", name, isEncoded: true)
    }
    guard protocolVersion == MCPRevision.stateless.rawValue else {
      throw .unsupportedVersion(protocolVersion)
    }
  }
}

extension MCPRejection {
  fileprivate static func missing(_ key: RequestMeta.CodingKeys) -> MCPRejection {
    .invalidParams("params._meta needs the member \"\(key.rawValue)\"")
  }
}

extension MCPRequestHead.HeaderField {
  /// Checks whether the field is there once and repeats what the body says.
  fileprivate func check(
    _ name: String, _ expected: String, isEncoded: Bool = false
  ) throws(MCPRejection) {
    switch self {
    case .missing: throw .headerMismatch("the header field \(name) is missing")
    case .repeated: throw .headerMismatch("the header field \(name) must come once")
    case .value(let value):
      guard let text = isEncoded ? MCPHeaderText(value)?.text : value else {
        throw .headerMismatch("the header field \(name) is not valid base64 of UTF-8")
      }
      guard text.isSameUTF8(as: expected) else {
        throw .headerMismatch(
          "the header field \(name) is \"\(text.brief)\", but the body has \"\(expected.brief)\"")
      }
    }
  }
}

extension Value {
  /// Decodes params, or their members at a path.
  fileprivate func params<Params: Decodable>(
    _ type: Params.Type, at path: String = "params"
  ) throws(MCPRejection) -> Params {
    guard object != nil else { throw .invalidParams("\(path) must be an object") }
    do { return try decode(as: type) } catch {
      throw .invalidParams("\(path)\(error.path.dropFirst()): \(error.message)")
    }
  }
}

extension RequestID {
  /// Whether the protocol allows it as an id: a string or an integer.
  fileprivate var isOfMCP: Bool {
    switch self {
    case .integer, .string: size <= Self.maxSize
    case .null, .number: false
    }
  }
}
