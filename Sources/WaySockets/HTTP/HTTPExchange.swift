import WayTransport

/// Decides what one request gets.
struct HTTPExchange {
  enum Outcome {
    case answer(HTTPAnswer)
    case upgrade(WebSocketUpgrade)
  }

  let head: RequestHead
  let server: ServerSockets
  /// False where the server is full: only what is served even then is answered.
  let hasSlot: Bool

  func outcome() -> Outcome {
    do throws(RequestFault) {
      return try decide()
    } catch {
      server.refused(error)
      var answer = HTTPAnswer(fault: error)
      answer.isHeadOnly = head.method == "HEAD"
      return .answer(answer)
    }
  }

  private func decide() throws(RequestFault) -> Outcome {
    if let fault = server.access.fault(of: head) { throw fault }
    try refuseBody()
    // Other protocols that are offered may be left alone (RFC 9110 §7.8): h2c is.
    if head.list("upgrade").contains("websocket") {
      if server.isStopping { throw RequestFault(503, "the server is ending", .ending) }
      let upgrade = try WebSocketUpgrade(head, endpoints: server.endpoints)
      guard hasSlot else { throw .full }
      return .upgrade(upgrade)
    }
    var answer = try answer()
    if head.method == "HEAD" { answer.isHeadOnly = true }
    return .answer(answer)
  }

  /// No request here needs a body, and one that is not read would be taken for the next request.
  private func refuseBody() throws(RequestFault) {
    if !head.values("transfer-encoding").isEmpty {
      throw RequestFault(413, "requests with a body are not taken here")
    }
    let lengths = head.values("content-length")
    guard let length = lengths.first else { return }
    guard lengths.count == 1, (1...18).contains(length.utf8.count),
      length.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { throw RequestFault(400, "Content-Length is not one number") }
    if length.utf8.contains(where: { $0 != 0x30 }) {
      throw RequestFault(413, "requests with a body are not taken here")
    }
  }

  private func answer() throws(RequestFault) -> HTTPAnswer {
    guard let decoded = percentDecoded(head.path.utf8), decoded.withUnsafeBytes(isUTF8) else {
      throw RequestFault(400, "the path is not percent-encoded UTF-8")
    }
    let path = String(decoding: decoded, as: UTF8.self)
    let request = HTTPRequest(
      method: head.method, path: path, isDraining: server.isStopping)
    if case .answer(let response) = server.responder?(request) {
      guard hasSlot || response.isServedWhenFull else { throw .full }
      var answer = HTTPAnswer(status: response.status)
      answer.fields = [("Cache-Control", "no-store")] + response.fields
      if let type = response.contentType { answer.fields.append(("Content-Type", type)) }
      answer.body = response.body
      return answer
    }
    guard hasSlot else { throw .full }
    if server.endpoints.contains(where: { $0.path == head.path }) {
      throw RequestFault(426, "this is a WebSocket endpoint", .handshake)
    }
    guard head.method == "GET" || head.method == "HEAD" else {
      var answer = HTTPAnswer(status: 405, text: "only GET and HEAD are answered here")
      answer.fields.append(("Allow", "GET, HEAD"))
      return answer
    }
    if let file = server.configuration.embeddedFiles[path] { return answer(file) }
    return try fileAnswer()
  }

  private func fileAnswer() throws(RequestFault) -> HTTPAnswer {
    switch server.files?.find(head.path) ?? .missing {
    case .missing:
      return HTTPAnswer(status: 404, text: "there is nothing at \(quoted(head.path))")
    case .exhausted:
      throw .exhausted
    case .folder:
      let target = head.path + "/" + (head.query.map { "?" + $0 } ?? "")
      var answer = HTTPAnswer(status: 301, text: "see \(target)")
      answer.fields.append(("Location", target))
      return answer
    case .file(let file):
      var answer = answer(file.contentType, file.entityTag)
      if !answer.isHeadOnly { answer.file = file }
      return answer
    }
  }

  private func answer(_ file: EmbeddedFile) -> HTTPAnswer {
    var answer = answer(file.contentType, file.entityTag)
    answer.body = file.bytes
    return answer
  }

  /// The head of a file's answer; that it has not changed, where the client has it already.
  private func answer(_ contentType: String, _ entityTag: String) -> HTTPAnswer {
    let isKnown = head.values("if-none-match").flatMap { $0.split(separator: ",") }
      .contains { $0.trimmed() == entityTag }
    var answer = HTTPAnswer(status: isKnown ? 304 : 200)
    answer.fields = [("Cache-Control", "no-cache"), ("ETag", entityTag)]
    if isKnown {
      answer.isHeadOnly = true
    } else {
      answer.fields.append(("Content-Type", contentType))
    }
    return answer
  }
}
