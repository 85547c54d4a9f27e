import CoreMetrics
import WaySession
import WaySockets
import WayTransport

/// Responds to HTTP requests before files are looked up.
enum BridgeResponder {
  static let healthPath = "/health"

  /// Responds to `/health` and `/metrics`, to calls to `/rpc` and `/mcp` if `post` is given, and to requests at
  /// `/blobs` if `blobs` are given. Rejects files outside of `webEntries`, the names that are served; nil rejects none. Embedded files are
  /// always served. Deferred responses are sent on `loop`, which handles the requests. Refusals are
  /// recorded in the audit trail.
  static func make(
    webEntries: [String]?, embedded: [String: HTTPEmbeddedFile], metrics: BridgeMetrics,
    on loop: any EventLoop, post: RPCEndpoint?, blobs: BlobResponder? = nil
  ) -> HTTPResponder {
    let respond = makeUnaudited(
      webEntries: webEntries, embedded: embedded, metrics: metrics, on: loop, post: post,
      blobs: blobs)
    guard let auditTrail = metrics.sessionServer.auditTrail else { return respond }
    return { request in
      respond(request)?.reporting { response in
        if let record = AuditRecord(response, to: request) { auditTrail.recordThrottled(record) }
      }
    }
  }

  private static func makeUnaudited(
    webEntries: [String]?, embedded: [String: HTTPEmbeddedFile], metrics: BridgeMetrics,
    on loop: any EventLoop, post: RPCEndpoint?, blobs: BlobResponder?
  ) -> HTTPResponder {
    { request in
      if let blobs, BlobResponder.handles(request.path) { return blobs.respond(to: request) }
      switch request.path {
      case healthPath:
        return .respond(
          readResponse(request) {
            Health(
              isDraining: request.isDraining || metrics.sessionServer.isDraining,
              isDegraded: metrics.sessionServer.isDegraded,
              cluster: metrics.sessionServer.clusterState
            ).response
          })
      case "/metrics":
        if request.isLocal {
          return readDecision(request, on: loop) { await metricsResponse(metrics) }
        }
        guard let post, request.handshake.token != nil else {
          return .respond(
            refusal(
              403, "/metrics is for programs on the server's machine and for clients with a token")
          )
        }
        return deferredDecision(on: loop) {
          guard await post.sessionServer.isAuthenticated(request.handshake) else {
            return refusal(401, "the token was rejected")
          }
          return isReadMethod(request) ? await metricsResponse(metrics) : methodNotAllowed(request)
        }
      case "/rpc": return rpcDecision(request, on: loop, post)
      case "/mcp": return agentDecision(request, on: loop, post)
      case "/\(WebInspector.folder)" where embedded[request.path + "/"] != nil:
        return .respond(readResponse(request) { inspectorRedirect })
      default: break
      }
      guard let webEntries, !isServed(request.path, webEntries), embedded[request.path] == nil
      else { return nil }
      return .respond(textResponse(404, "there is nothing at this path\n"))
    }
  }

  /// Redirects to the folder's page if the slash is missing. The location is relative, so that it
  /// works below every prefix.
  private static var inspectorRedirect: HTTPResponse {
    var response = textResponse(301, "see \(WebInspector.folder)/\n")
    response.fields = [("Location", WebInspector.folder + "/")]
    return response
  }

  /// Handles calls of back-ends.
  private static func rpcDecision(
    _ request: HTTPRequest, on loop: any EventLoop, _ post: RPCEndpoint?
  ) -> HTTPDecision {
    guard let post else {
      return .respond(
        textResponse(
          404, "/rpc is available if the server has tokens configured or listens on a Unix socket\n"
        ))
    }
    guard request.method == "POST" else {
      var response = textResponse(405, "/rpc accepts JSON-RPC with POST only\n")
      response.fields = [("Allow", "POST")]
      return .respond(response)
    }
    guard post.allowsAnonymous || request.handshake.token != nil else {
      return .respond(missingToken)
    }
    return .readBody(
      HTTPBodyHandler(contentType: "application/json", limit: post.maxMessage) { body, respond in
        post.sessionServer.post(body, request.handshake, on: loop, respond)
      })
  }

  /// Handles requests of AI agents.
  private static func agentDecision(
    _ request: HTTPRequest, on loop: any EventLoop, _ post: RPCEndpoint?
  ) -> HTTPDecision {
    guard let post, let agents = post.agents else {
      return .respond(textResponse(404, "/mcp is available if the server has tokens configured\n"))
    }
    guard request.method == "POST" else {
      var response = textResponse(405, "/mcp accepts the Model Context Protocol with POST only\n")
      response.fields = [("Allow", "POST")]
      return .respond(response)
    }
    guard request.handshake.token != nil else { return .respond(missingToken) }
    return .readBody(
      HTTPBodyHandler(contentType: "application/json", limit: post.maxMessage) { body, respond in
        agents.respond(to: body, of: request, on: loop, respond)
      })
  }

  private static var missingToken: HTTPResponse {
    var response = refusal(401, "send a token: Authorization: Bearer TOKEN")
    response.fields = [("WWW-Authenticate", "Bearer")]
    return response
  }

  /// The endpoint for calls of back-ends.
  struct RPCEndpoint: Sendable {
    let sessionServer: SessionServer
    /// The largest body in bytes.
    let maxMessage: Int
    /// Whether callers without a token are accepted.
    let allowsAnonymous: Bool
    /// Handles requests of AI agents; `nil` if clients are not authenticated.
    var agents: AgentEndpoint?
  }

  private static func metricsResponse(_ metrics: BridgeMetrics) async -> HTTPResponse {
    let families = await metrics.families()
    let apps = (MetricsSystem.factory as? PrometheusMetrics)?.families ?? []
    return HTTPResponse(
      status: 200, contentType: PrometheusText.contentType,
      body: Array(PrometheusText.text(families + ProcessMetrics.families() + apps).utf8),
      isServedWhenFull: true)
  }

  private static func readResponse(
    _ request: HTTPRequest, _ makeResponse: () -> HTTPResponse
  ) -> HTTPResponse {
    isReadMethod(request) ? makeResponse() : methodNotAllowed(request)
  }

  private static func isReadMethod(_ request: HTTPRequest) -> Bool {
    request.method == "GET" || request.method == "HEAD"
  }

  private static func methodNotAllowed(_ request: HTTPRequest) -> HTTPResponse {
    textResponse(405, "\(request.path) accepts GET only\n")
  }

  private static func readDecision(
    _ request: HTTPRequest, on loop: any EventLoop,
    _ makeResponse: @escaping @Sendable () async -> HTTPResponse
  ) -> HTTPDecision {
    isReadMethod(request)
      ? deferredDecision(on: loop, makeResponse) : .respond(methodNotAllowed(request))
  }

  /// Responds later, for operators.
  private static func deferredDecision(
    on loop: any EventLoop, _ makeResponse: @escaping @Sendable () async -> HTTPResponse
  ) -> HTTPDecision {
    let work: DeferredResponse = { respond in
      ResponseTask(
        Task {
          let response = await makeResponse()
          loop.execute { respond(response) }
        })
    }
    return .respondLater(work, isServedWhenFull: true)
  }

  private final class ResponseTask: ScheduledWork {
    private let task: Task<Void, Never>

    init(_ task: Task<Void, Never>) {
      self.task = task
    }

    func cancel() { task.cancel() }
  }

  /// Whether a path is in one of the entries, or is the root, which serves its `index.html`.
  private static func isServed(_ path: String, _ entries: [String]) -> Bool {
    let first = path.utf8.dropFirst().prefix { $0 != UInt8(ascii: "/") }
    return path == "/" || entries.contains { $0.utf8.elementsEqual(first) }
  }

  /// Refuses a client, with the reason as the text.
  private static func refusal(_ status: Int, _ reason: String) -> HTTPResponse {
    var response = textResponse(status, reason + "\n")
    response.refusalReason = reason
    return response
  }

  private static func textResponse(_ status: Int, _ body: String) -> HTTPResponse {
    HTTPResponse(
      status: status, contentType: "text/plain; charset=utf-8", body: Array(body.utf8))
  }
}
