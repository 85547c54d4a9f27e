import WayTransport

/// Decides what one request gets.
struct HTTPExchange {
  enum Outcome {
    case answer(OutgoingResponse)
    case upgrade(WebSocketUpgrade)
    /// The body is read, and taken by someone who answers in his time.
    case body(RequestBody)
    /// Someone answers in his time.
    case later(HTTPWork)
  }

  let head: RequestHead
  let peer: SocketPeer
  let server: ServerSockets
  /// False where the server is full: only what is served even then is answered.
  let hasSlot: Bool

  func outcome() -> Outcome {
    do throws(RequestFault) {
      return try decide()
    } catch {
      server.refused(
        error, from: server.access.address(of: head, from: peer), isHandshake: head.isUpgrade)
      var answer = OutgoingResponse(fault: error)
      answer.isHeadOnly = head.method == "HEAD"
      return .answer(answer)
    }
  }

  /// The path below the prefix, percent-encoded; nil for one that is not below it.
  private var path: String? {
    let prefix = server.configuration.prefix
    guard head.path.utf8.starts(with: prefix.utf8) else { return nil }
    let path = head.path.utf8.dropFirst(prefix.utf8.count)
    return path.isEmpty || path.first == 0x2F ? String(decoding: path, as: UTF8.self) : nil
  }

  private func decide() throws(RequestFault) -> Outcome {
    let path = path
    let decoded = path.flatMap { percentDecoded($0.utf8) }
    let text = decoded.flatMap {
      $0.withUnsafeBytes(isUTF8) ? String(decoding: $0, as: UTF8.self) : nil
    }
    let isOpen = !head.isUpgrade && server.configuration.openPaths.contains(text ?? "")
    var asker = try server.access.examine(head, from: peer, isOpen: isOpen)
    let framing = try BodyFraming(head)
    if head.isUpgrade {
      if framing.hasBytes { throw .body }
      if server.isStopping { throw .ending }
      var upgrade = try WebSocketUpgrade(head, path: path, endpoints: server.endpoints)
      guard hasSlot else { throw .full }
      asker.handshake.subprotocol = upgrade.subprotocol
      upgrade.handshake = asker.handshake
      upgrade.handshake.came = server.loop.nanoseconds
      return .upgrade(upgrade)
    }
    guard let path else { return .answer(ending(missing, framing)) }
    guard let text else { throw RequestFault(400, "the path is not percent-encoded UTF-8") }
    if path.isEmpty { return .answer(ending(redirection, framing)) }
    let request = HTTPRequest(
      method: head.method, path: text, handshake: asker.handshake, isLocal: asker.isLocal,
      isDraining: server.isStopping)
    switch server.responder?(request) {
    case .body(let taker):
      guard hasSlot else { throw .full }
      return .body(try RequestBody(head, framing, for: taker, budget: server.bodies))
    case .later(let work, let isServedWhenFull):
      guard hasSlot || isServedWhenFull else { throw .full }
      if framing.hasBytes { throw .body }
      return .later(work)
    case .answer(let response):
      guard hasSlot || response.isServedWhenFull else { throw .full }
      if framing.hasBytes, response.status < 400 { throw .body }
      var answer = OutgoingResponse(response)
      if isOpen { answer.fields += sharing(with: asker) }
      return .answer(ending(answer, framing))
    case nil:
      guard hasSlot else { throw .full }
      if framing.hasBytes { throw .body }
      return .answer(ending(try fileAnswer(path, text), framing))
    }
  }

  /// An answer that fits the request: without its body to HEAD, and the last where a body follows the
  /// request, which would be taken for the next.
  private func ending(_ answer: OutgoingResponse, _ framing: BodyFraming) -> OutgoingResponse {
    var answer = answer
    if head.method == "HEAD" { answer.isHeadOnly = true }
    if framing.hasBytes { answer.endsConnection = true }
    return answer
  }

  /// Lets scripts of the asker's origin read the answer.
  private func sharing(with asker: Asker) -> [(String, String)] {
    guard let origin = asker.letInOrigin else { return [] }
    return [("Access-Control-Allow-Origin", origin), ("Vary", "Origin")]
  }

  private var missing: OutgoingResponse {
    OutgoingResponse(status: 404, text: "there is nothing at \(quoted(head.path))")
  }

  // MARK: Files

  /// Adds the slash that a folder's path lacks.
  private var redirection: OutgoingResponse {
    let target = head.path + "/" + (head.query.map { "?" + $0 } ?? "")
    var answer = OutgoingResponse(status: 301, text: "see \(target)")
    answer.fields.append(("Location", target))
    return answer
  }

  private func fileAnswer(_ path: String, _ text: String) throws(RequestFault) -> OutgoingResponse {
    if server.endpoints.contains(where: { $0.path == path }) {
      throw RequestFault(426, "this is a WebSocket endpoint", .handshake)
    }
    guard head.method == "GET" || head.method == "HEAD" else {
      var answer = OutgoingResponse(status: 405, text: "only GET and HEAD are answered here")
      answer.fields.append(("Allow", "GET, HEAD"))
      return answer
    }
    if let file = server.configuration.embeddedFiles[text] {
      var answer = answer(file.contentType, file.entityTag)
      answer.body = file.bytes
      return answer
    }
    switch server.files?.find(path) ?? .missing {
    case .missing:
      return missing
    case .exhausted:
      throw .exhausted
    case .folder:
      return redirection
    case .file(let file):
      var answer = answer(file.contentType, file.entityTag)
      if !answer.isHeadOnly { answer.file = file }
      return answer
    }
  }

  /// The head of a file's answer; that it has not changed, where the client has it already.
  private func answer(_ contentType: String, _ entityTag: String) -> OutgoingResponse {
    let isKnown = head.values("if-none-match").flatMap { $0.split(separator: ",") }
      .contains { $0.trimmed() == entityTag }
    var answer = OutgoingResponse(status: isKnown ? 304 : 200)
    answer.fields = [("Cache-Control", "no-cache"), ("ETag", entityTag)] + server.fileHeaders
    if isKnown {
      answer.isHeadOnly = true
    } else {
      answer.fields.append(("Content-Type", contentType))
    }
    return answer
  }
}
