import WayTransport

/// Answers what is asked for before the files are looked at.
enum Responder {
  /// Answers `/health`, and refuses files outside of `webEntries`, the names that are served; nil refuses none.
  static func make(webEntries: [String]?) -> HTTPResponder {
    { request in
      if request.path == "/health" { return health(request) }
      guard let webEntries, !isServed(request.path, webEntries) else { return nil }
      return text(404, "there is nothing at this path\n")
    }
  }

  /// The process serves.
  private static func health(_ request: HTTPRequest) -> HTTPResponse {
    guard request.method == "GET" || request.method == "HEAD" else {
      return text(405, "/health is read with GET\n")
    }
    return HTTPResponse(
      status: 200, contentType: "application/json", body: Array("{\"status\":\"ok\"}\n".utf8))
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
