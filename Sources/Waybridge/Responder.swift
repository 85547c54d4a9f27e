import CoreMetrics
import WaySession
import WaySockets
import WayTransport

/// Answers what is asked for before the files are looked at.
enum Responder {
  static let healthPath = "/health"

  /// Answers `/health` and `/metrics`, takes what is posted to `/rpc` where `post` is given, and
  /// refuses files outside of `webEntries`, the names that
  /// are served; nil refuses none. Those of the program are served.
  static func make(
    webEntries: [String]?, embedded: [String: EmbeddedFile], metrics: BridgeMetrics, post: Post?
  ) -> HTTPResponder {
    { request in
      switch request.path {
      case healthPath:
        return .answer(
          read(request) {
            health(
              isDraining: request.isDraining || metrics.hub.isAboutToEnd,
              isDegraded: metrics.hub.writer?.failure != nil)
          })
      case "/metrics":
        if request.isLocal { return .answer(read(request) { text(metrics) }) }
        guard let post, request.handshake.token != nil else {
          return .answer(
            text(
              403, "metrics are told to programs of the server's machine, and to who has a token\n")
          )
        }
        return .later { answer in
          post.hub.admit(request.handshake) { isAdmitted in
            answer(
              isAdmitted
                ? read(request) { text(metrics) } : text(401, "the token was refused\n"))
          }
        }
      case "/rpc": return posted(request, post)
      default: break
      }
      guard let webEntries, !isServed(request.path, webEntries), embedded[request.path] == nil
      else { return nil }
      return .answer(text(404, "there is nothing at this path\n"))
    }
  }

  /// Takes calls of back-ends.
  private static func posted(_ request: HTTPRequest, _ post: Post?) -> HTTPDecision {
    guard let post else {
      return .answer(
        text(404, "calls are taken here where tokens are configured, and on a Unix socket\n"))
    }
    guard request.method == "POST" else {
      var answer = text(405, "/rpc takes JSON-RPC with POST\n")
      answer.fields = [("Allow", "POST")]
      return .answer(answer)
    }
    guard post.isOpen || request.handshake.token != nil else {
      var answer = text(401, "send a token: Authorization: Bearer TOKEN\n")
      answer.fields = [("WWW-Authenticate", "Bearer")]
      return .answer(answer)
    }
    return .body(
      HTTPBody(contentType: "application/json", limit: post.maxMessage) { body, answer in
        post.hub.post(body, request.handshake, answer)
      })
  }

  /// Where calls of back-ends go.
  struct Post: Sendable {
    let hub: SessionHub
    /// Bytes of a body.
    let maxMessage: Int
    /// Whether who has no token is taken too.
    let isOpen: Bool
  }

  /// Whether clients may come; `degraded` where they may, and a restart would end their sessions.
  private static func health(isDraining: Bool, isDegraded: Bool) -> HTTPResponse {
    let status = isDraining ? "draining" : isDegraded ? "degraded" : "ok"
    let reason = isDegraded && !isDraining ? ",\"reason\":\"sessions are not kept\"" : ""
    return HTTPResponse(
      status: isDraining ? 503 : 200, contentType: "application/json",
      body: Array("{\"status\":\"\(status)\"\(reason)}\n".utf8), isServedWhenFull: true)
  }

  private static func text(_ metrics: BridgeMetrics) -> HTTPResponse {
    let apps = (MetricsSystem.factory as? PrometheusMetrics)?.families ?? []
    return HTTPResponse(
      status: 200, contentType: PrometheusText.contentType,
      body: Array(PrometheusText.text(metrics.families() + ProcessMetrics.families() + apps).utf8),
      isServedWhenFull: true)
  }

  private static func read(
    _ request: HTTPRequest, _ answer: () -> HTTPResponse
  ) -> HTTPResponse {
    guard request.method == "GET" || request.method == "HEAD" else {
      return text(405, "\(request.path) is read with GET\n")
    }
    return answer()
  }

  /// Whether a path lies in one of the entries, or is the root, which shows its `index.html`.
  private static func isServed(_ path: String, _ entries: [String]) -> Bool {
    let first = path.utf8.dropFirst().prefix { $0 != UInt8(ascii: "/") }
    return path == "/" || entries.contains { $0.utf8.elementsEqual(first) }
  }

  private static func text(_ status: Int, _ body: String) -> HTTPResponse {
    HTTPResponse(
      status: status, contentType: "text/plain; charset=utf-8", body: Array(body.utf8))
  }
}
