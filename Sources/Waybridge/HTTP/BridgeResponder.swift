import CoreMetrics
import WaySession
import WaySockets
import WayTransport

/// Answers what is asked for before the files are looked at.
enum BridgeResponder {
  static let healthPath = "/health"

  /// Answers `/health` and `/metrics`, takes what is posted to `/rpc` where `post` is given, and
  /// refuses files outside of `webEntries`, the names that
  /// are served; nil refuses none. Those of the program are served. What is answered later is
  /// answered on `loop`, on which requests are.
  static func make(
    webEntries: [String]?, embedded: [String: HTTPEmbeddedFile], metrics: BridgeMetrics,
    on loop: any EventLoop, post: Post?
  ) -> HTTPResponder {
    { request in
      switch request.path {
      case healthPath:
        return .answer(
          read(request) {
            Health(
              isDraining: request.isDraining || metrics.group.isAboutToEnd,
              isDegraded: metrics.group.isDegraded, cluster: metrics.group.clusterState
            ).response
          })
      case "/metrics":
        if request.isLocal { return read(request, on: loop) { await text(metrics) } }
        guard let post, request.handshake.token != nil else {
          return .answer(
            text(
              403, "metrics are told to programs of the server's machine, and to who has a token\n")
          )
        }
        return later(on: loop) {
          guard await post.group.knows(request.handshake) else {
            return text(401, "the token was refused\n")
          }
          return isRead(request) ? await text(metrics) : readWithGet(request)
        }
      case "/rpc": return posted(request, on: loop, post)
      case "/\(WebInspector.folder)" where embedded[request.path + "/"] != nil:
        return .answer(read(request) { inspectorsPlace })
      default: break
      }
      guard let webEntries, !isServed(request.path, webEntries), embedded[request.path] == nil
      else { return nil }
      return .answer(text(404, "there is nothing at this path\n"))
    }
  }

  /// The page's folder, whose slash is missing; seen from where it was asked for, below whichever
  /// prefix.
  private static var inspectorsPlace: HTTPResponse {
    var answer = text(301, "see \(WebInspector.folder)/\n")
    answer.fields = [("Location", WebInspector.folder + "/")]
    return answer
  }

  /// Takes calls of back-ends.
  private static func posted(
    _ request: HTTPRequest, on loop: any EventLoop, _ post: Post?
  ) -> HTTPDecision {
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
        post.group.post(body, request.handshake, on: loop, answer)
      })
  }

  /// Where calls of back-ends go.
  struct Post: Sendable {
    let group: SessionServer
    /// Bytes of a body.
    let maxMessage: Int
    /// Whether who has no token is taken too.
    let isOpen: Bool
  }

  private static func text(_ metrics: BridgeMetrics) async -> HTTPResponse {
    let families = await metrics.families()
    let apps = (MetricsSystem.factory as? PrometheusMetrics)?.families ?? []
    return HTTPResponse(
      status: 200, contentType: PrometheusText.contentType,
      body: Array(PrometheusText.text(families + ProcessMetrics.families() + apps).utf8),
      isServedWhenFull: true)
  }

  private static func read(
    _ request: HTTPRequest, _ answer: () -> HTTPResponse
  ) -> HTTPResponse {
    isRead(request) ? answer() : readWithGet(request)
  }

  private static func isRead(_ request: HTTPRequest) -> Bool {
    request.method == "GET" || request.method == "HEAD"
  }

  private static func readWithGet(_ request: HTTPRequest) -> HTTPResponse {
    text(405, "\(request.path) is read with GET\n")
  }

  private static func read(
    _ request: HTTPRequest, on loop: any EventLoop,
    _ response: @escaping @Sendable () async -> HTTPResponse
  ) -> HTTPDecision {
    isRead(request) ? later(on: loop, response) : .answer(readWithGet(request))
  }

  /// Answers an operator in its time.
  private static func later(
    on loop: any EventLoop, _ response: @escaping @Sendable () async -> HTTPResponse
  ) -> HTTPDecision {
    let work: HTTPWork = { answer in
      AnsweringTask(
        Task {
          let response = await response()
          loop.execute { answer(response) }
        })
    }
    return .later(work, isServedWhenFull: true)
  }

  private final class AnsweringTask: ScheduledWork {
    private let task: Task<Void, Never>

    init(_ task: Task<Void, Never>) {
      self.task = task
    }

    func cancel() { task.cancel() }
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
