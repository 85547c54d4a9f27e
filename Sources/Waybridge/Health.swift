import WayTransport

/// Answers `/health`: the process serves.
enum Health {
  static let respond: HTTPResponder = { request in
    guard request.path == "/health" else { return nil }
    guard request.method == "GET" || request.method == "HEAD" else {
      return HTTPResponse(
        status: 405, contentType: "text/plain; charset=utf-8",
        body: Array("/health is read with GET\n".utf8))
    }
    return HTTPResponse(
      status: 200, contentType: "application/json", body: Array("{\"status\":\"ok\"}\n".utf8))
  }
}
