import CoreMetrics
import WaySockets
import WayTransport

/// Answers what is asked for before the files are looked at.
enum Responder {
  static let healthPath = "/health"

  /// Answers `/health` and `/metrics`, and refuses files outside of `webEntries`, the names that
  /// are served; nil refuses none. Those of the program are served.
  ///
  /// - Parameter mayReadMetrics: asked for whoever wants to read the metrics.
  static func make(
    webEntries: [String]?, embedded: [String: EmbeddedFile], metrics: BridgeMetrics,
    mayReadMetrics: @escaping @Sendable (HTTPRequest) -> Bool = \.isLocal
  ) -> HTTPResponder {
    { request in
      switch request.path {
      case healthPath: return .answer(read(request) { health(isDraining: request.isDraining) })
      case "/metrics":
        guard mayReadMetrics(request) else {
          return .answer(text(403, "metrics are told to programs of the server's machine only\n"))
        }
        return .answer(read(request) { text(metrics) })
      default: break
      }
      guard let webEntries, !isServed(request.path, webEntries), embedded[request.path] == nil
      else { return nil }
      return .answer(text(404, "there is nothing at this path\n"))
    }
  }

  /// Whether clients may come.
  private static func health(isDraining: Bool) -> HTTPResponse {
    HTTPResponse(
      status: isDraining ? 503 : 200, contentType: "application/json",
      body: Array("{\"status\":\"\(isDraining ? "draining" : "ok")\"}\n".utf8),
      isServedWhenFull: true)
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
