import WayRPC
import WayValues

/// What responses contain besides the answer to their request.
package struct MCPResponseContext: Sendable {
  /// The server's program.
  package let server: MCPImplementation
  /// The revision that the response follows.
  let revision: MCPRevision
  /// The session in which the call ran; `nil` for none.
  package var session: String?
  /// The id of the request.
  package let id: RequestID

  /// Creates the context of the response to a request.
  package init(_ request: MCPRequest, from server: MCPImplementation) {
    id = request.id
    revision = request.revision
    self.server = server
  }

  /// The `resultType`, which only the stateless revision knows.
  var resultType: String? { revision == .stateless ? "complete" : nil }

  func meta(_ error: CallError? = nil) -> MCPResultMeta {
    MCPResultMeta(
      serverInfo: revision == .stateless ? server : nil, session: session,
      error: error.map(MCPResultMeta.ErrorFacts.init))
  }
}

/// The `_meta` of a result.
struct MCPResultMeta: Encodable, Sendable {
  let serverInfo: MCPImplementation?
  let session: String?
  let error: ErrorFacts?

  enum CodingKeys: String, CodingKey {
    case serverInfo = "io.modelcontextprotocol/serverInfo"
    case session = "waybridge/session"
    case error = "waybridge/error"
  }

  /// An error of a call for programs, as JSON-RPC has it.
  struct ErrorFacts: Encodable, Sendable {
    let code: Int
    let message: String
    let data: Value?

    init(_ error: CallError) {
      code = error.code
      message = error.message
      data = error.data
    }
  }
}

/// What the server offers.
private struct MCPCapabilities: Encodable {
  struct Tools: Encodable {
    /// `nil` if the server reports no changes in this revision.
    let listChanged: Bool?
  }
  let tools: Tools
}

// The responses to requests that need no session.
extension MCPResponseContext {
  /// How long a client may use a list, in milliseconds, if it does not listen to changes.
  private static let timeToLive = 10_000

  private struct Discovery: Encodable {
    let resultType: String?
    var supportedVersions = [MCPRevision.stateless.rawValue]
    let capabilities: MCPCapabilities
    let instructions: String
    var ttlMs = MCPResponseContext.timeToLive
    var cacheScope = "private"
    let _meta: MCPResultMeta
  }

  private struct Initialization: Encodable {
    var protocolVersion = MCPRevision.handshake.rawValue
    let capabilities: MCPCapabilities
    let serverInfo: MCPImplementation
    let instructions: String
  }

  private struct EmptyResult: Encodable {}

  private struct ToolPage: Encodable {
    let resultType: String?
    let tools: [Value]
    let nextCursor: String?
    let ttlMs: Int?
    let cacheScope: String?
    let _meta: MCPResultMeta
  }

  private static let instructions =
    "The tools call functions and pages of a user's app. Those that open a page, or need the app, "
    + "run where the user sees them, and may wait for the user. If the list has the tools search "
    + "and describe only, find the others with them, and call each by its name."

  /// The response to `server/discover`. `listens` if the server offers `subscriptions/listen`.
  package func discovery(listens: Bool) -> MCPMessage {
    response(
      Discovery(
        resultType: resultType, capabilities: capabilities(listens: listens),
        instructions: Self.instructions, _meta: meta()))
  }

  /// The response to `initialize`, which reports no changes later.
  package var initialization: MCPMessage {
    response(
      Initialization(
        capabilities: capabilities(listens: false), serverInfo: server,
        instructions: Self.instructions))
  }

  private func capabilities(listens: Bool) -> MCPCapabilities {
    MCPCapabilities(tools: .init(listChanged: listens ? true : nil))
  }

  /// The response to `ping`.
  package var pong: MCPMessage { response(EmptyResult()) }

  /// The response to `tools/list`. Fails for a cursor that no page had.
  package func page(
    of list: AgentToolList, after cursor: String?
  ) throws(MCPRejection) -> MCPMessage {
    let page: AgentToolList.ListPage
    do { page = try list.page(after: cursor, for: revision) } catch {
      throw error.of(id, revision)
    }
    let isCached = revision == .stateless
    return response(
      ToolPage(
        resultType: resultType, tools: page.tools, nextCursor: page.nextCursor,
        ttlMs: isCached ? Self.timeToLive : nil, cacheScope: isCached ? "private" : nil,
        _meta: meta()))
  }

  /// The response to a call of one of the tools that stand in for a long list; `nil` for a call of
  /// another tool, or if the list is short.
  package func search(_ list: AgentToolList, _ call: MCPToolCall) -> MCPMessage? {
    guard list.isSearchable else { return nil }
    do throws(CallError) {
      let value = try AgentToolSearch(list: list, revision: revision).run(call)
      return value.map { response(AgentToolResult($0, in: self)) }
    } catch {
      return failure(error)
    }
  }

  /// The rejection of a request that has been read.
  package func rejecting(_ rejection: MCPRejection) -> MCPRejection { rejection.of(id, revision) }

  /// The response to a call that failed before a session had it.
  package func failure(_ error: CallError) -> MCPMessage {
    response(AgentToolResult(error, in: self))
  }

  /// The response to a call of a tool.
  package func result(_ result: Result<Value, CallError>, of tool: AgentTool) -> MCPMessage {
    response(AgentToolResult(result, of: tool, in: self))
  }

  fileprivate func response(_ result: some Encodable) -> MCPMessage { MCPMessage(result, of: id) }
}

// The messages of `subscriptions/listen`.
extension MCPResponseContext {
  private struct SubscriptionMeta: Encodable {
    let id: RequestID

    enum CodingKeys: String, CodingKey {
      case id = "io.modelcontextprotocol/subscriptionId"
    }
  }

  private struct Acknowledgement: Encodable {
    struct HonoredNotifications: Encodable {
      let toolsListChanged: Bool?
    }
    let _meta: SubscriptionMeta
    let notifications: HonoredNotifications
  }

  private struct ToolChangeParams: Encodable {
    let _meta: SubscriptionMeta
  }

  private struct ListeningEnd: Encodable {
    let resultType: String?
    let _meta: SubscriptionMeta
  }

  private var subscriptionMeta: SubscriptionMeta { SubscriptionMeta(id: id) }

  /// The first message of a stream, which says what it will report.
  package func acknowledgement(ofToolChanges: Bool) -> MCPMessage {
    MCPMessage(
      "notifications/subscriptions/acknowledged",
      Acknowledgement(
        _meta: subscriptionMeta,
        notifications: .init(toolsListChanged: ofToolChanges ? true : nil)))
  }

  /// The message that the list of tools has changed.
  package var toolChange: MCPMessage {
    MCPMessage("notifications/tools/list_changed", ToolChangeParams(_meta: subscriptionMeta))
  }

  /// The response that ends a stream, when the server shuts down.
  package var listeningEnd: MCPMessage {
    response(ListeningEnd(resultType: resultType, _meta: subscriptionMeta))
  }
}
