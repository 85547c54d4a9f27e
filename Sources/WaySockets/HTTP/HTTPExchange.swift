import WayTransport

/// Decides how to respond to one request.
struct HTTPExchange {
  enum ExchangeAction {
    case respond(OutgoingResponse)
    case upgrade(WebSocketUpgrade)
    /// Read the body first, then pass it to a handler that responds later.
    case readBody(RequestBody)
    /// Pass the body to a receiver in parts.
    case streamBody(StreamedBody)
    /// A handler responds later.
    case respondLater(DeferredResponse)
  }

  let head: RequestHead
  let peer: SocketPeer
  let server: ServerSockets
  /// False if the server is full. It then responds only to requests that it serves even when full.
  let hasSlot: Bool
  /// The client that a trusted proxy names, after ``resolve()``; `nil` without a proxy.
  private(set) var forwardedClient: SocketForwardedNode?

  init(head: RequestHead, peer: SocketPeer, server: ServerSockets, hasSlot: Bool) {
    self.head = head
    self.peer = peer
    self.server = server
    self.hasSlot = hasSlot
  }

  mutating func resolve() -> ExchangeAction {
    do throws(HTTPRequestRejection) {
      return try decide()
    } catch {
      server.recordRejection(
        error, from: server.access.address(of: head, from: peer), origin: origin,
        isHandshake: head.isUpgrade)
      var response = OutgoingResponse(rejection: error)
      response.isHeadOnly = head.method == "HEAD"
      return .respond(response)
    }
  }

  /// The Origin header, if it is an origin and nothing else.
  private var origin: String? {
    head.values("origin").first.flatMap { WebOrigin($0) == nil ? nil : $0 }
  }

  /// The path below the prefix, percent-encoded; `nil` if the path is not below the prefix.
  private var path: String? {
    let prefix = server.configuration.network.prefix
    guard head.path.utf8.starts(with: prefix.utf8) else { return nil }
    let path = head.path.utf8.dropFirst(prefix.utf8.count)
    return path.isEmpty || path.first == 0x2F ? String(decoding: path, as: UTF8.self) : nil
  }

  private mutating func decide() throws(HTTPRequestRejection) -> ExchangeAction {
    let path = path
    let decoded = path.flatMap { percentDecoded($0.utf8) }
    let text = decoded.flatMap {
      $0.withUnsafeBytes(isUTF8) ? String(decoding: $0, as: UTF8.self) : nil
    }
    let isOpen = !head.isUpgrade && server.configuration.openPaths.contains(text ?? "")
    var grant = try server.access.admit(head, from: peer, isOpen: isOpen)
    forwardedClient = grant.forwardedClient
    let framing = try BodyFraming(head)
    if head.isUpgrade {
      if framing.hasBytes { throw .unexpectedBody }
      if server.isStopping { throw .ending }
      var upgrade = try WebSocketUpgrade(head, path: path, endpoints: server.endpoints)
      if let client = grant.forwardedClient { upgrade.addressSlot = try server.slot(of: client) }
      if !hasSlot {
        guard upgrade.authenticates else { throw .full }
        try server.reserveWebSocket()
        grant.handshake.isReserved = true
      }
      grant.handshake.subprotocol = upgrade.subprotocol
      upgrade.handshake = grant.handshake
      upgrade.handshake.receivedAt = server.loop.nanoseconds
      return .upgrade(upgrade)
    }
    guard let path else { return .respond(finalized(notFound, framing)) }
    guard let text else { throw HTTPRequestRejection(400, "the path is not percent-encoded UTF-8") }
    if path.isEmpty { return .respond(finalized(redirect, framing)) }
    let request = HTTPRequest(
      method: head.method, path: text, handshake: grant.handshake, isLocal: grant.isLocal,
      isDraining: server.isStopping, fields: head.fields)
    switch server.responder?(request) {
    case .readBody(let handler):
      guard hasSlot else { throw .full }
      return .readBody(try RequestBody(head, framing, for: handler, budget: server.bodyBudget))
    case .streamBody(let stream):
      guard hasSlot else { throw .full }
      return .streamBody(try StreamedBody(head, framing, for: stream, budget: server.bodyBudget))
    case .respondLater(let work, let isServedWhenFull):
      guard hasSlot || isServedWhenFull else { throw .full }
      if framing.hasBytes { throw .unexpectedBody }
      return .respondLater(work)
    case .respond(let response):
      do throws(HTTPRequestRejection) {
        var outgoing = try outgoing(response, framing)
        if isOpen { outgoing.fields += corsFields(with: grant) }
        return .respond(outgoing)
      } catch {
        response.discardStream(on: server.loop)
        throw error
      }
    case nil:
      guard hasSlot else { throw .full }
      if framing.hasBytes { throw .unexpectedBody }
      return .respond(finalized(try fileResponse(path, text), framing))
    }
  }

  /// Checks and adapts a response that the responder has made at once.
  private func outgoing(
    _ response: HTTPResponse, _ framing: BodyFraming
  ) throws(HTTPRequestRejection) -> OutgoingResponse {
    guard hasSlot || response.isServedWhenFull else { throw .full }
    if framing.hasBytes, response.status < 400 { throw .unexpectedBody }
    return finalized(try OutgoingResponse(response, budget: server.bodyBudget), framing)
  }

  /// Adapts a response to the request: HEAD gets no body. If the request has a body, the response
  /// is the last one; the body would be read as the next request.
  private func finalized(_ response: OutgoingResponse, _ framing: BodyFraming) -> OutgoingResponse {
    var response = response
    if head.method == "HEAD" { response.isHeadOnly = true }
    if framing.hasBytes { response.endsConnection = true }
    return response
  }

  /// Allows scripts of the client's origin to read the response.
  private func corsFields(with grant: AccessGrant) -> [(String, String)] {
    guard let origin = grant.allowedOrigin else { return [] }
    return [("Access-Control-Allow-Origin", origin), ("Vary", "Origin")]
  }

  private var notFound: OutgoingResponse {
    OutgoingResponse(status: 404, text: "there is nothing at \(quoted(head.path))")
  }

  /// Redirects to the path with the slash that a folder's path lacks.
  private var redirect: OutgoingResponse {
    let target = head.path + "/" + (head.query.map { "?" + $0 } ?? "")
    var response = OutgoingResponse(status: 301, text: "see \(target)")
    response.fields.append(("Location", target))
    return response
  }

  private func fileResponse(_ path: String, _ text: String) throws(HTTPRequestRejection)
    -> OutgoingResponse
  {
    if server.endpoints.contains(where: { $0.path == path }) {
      throw HTTPRequestRejection(426, "this path is a WebSocket endpoint", .handshake)
    }
    guard head.method == "GET" || head.method == "HEAD" else {
      var response = OutgoingResponse(status: 405, text: "this path accepts GET and HEAD only")
      response.fields.append(("Allow", "GET, HEAD"))
      return response
    }
    let codings = ContentCoding.accepted(by: head)
    if let file = server.configuration.embeddedFiles[text] {
      let gzipped = codings.contains(.gzip) ? file.gzipped : nil
      var response = fileResponseHead(
        text, file.contentType, file.entityTag, coding: gzipped == nil ? nil : .gzip)
      response.body = gzipped ?? file.bytes
      return response
    }
    switch server.files?.find(path) ?? .missing {
    case .missing:
      return notFound
    case .exhausted:
      throw .exhausted
    case .folder:
      return redirect
    case .file(let file):
      let compressed = file.compressed(in: codings)
      var response = fileResponseHead(
        text, file.contentType, file.entityTag, coding: compressed?.coding)
      if !response.isHeadOnly { response.file = compressed?.file ?? file }
      return response
    }
  }

  /// The head of a file response; status 304 if the client already has this version.
  ///
  /// - Parameters:
  ///   - path: The path of the file, after the server's prefix.
  ///   - entityTag: The tag of the uncompressed file.
  ///   - coding: The coding of the form that is sent; `nil` for the uncompressed file.
  private func fileResponseHead(
    _ path: String, _ contentType: String, _ entityTag: String, coding: ContentCoding?
  ) -> OutgoingResponse {
    let sentTag = coding?.entityTag(for: entityTag) ?? entityTag
    let isKnown = head.values("if-none-match").flatMap { $0.split(separator: ",") }
      .contains { $0.trimmed() == sentTag }
    var response = OutgoingResponse(status: isKnown ? 304 : 200)
    response.fields =
      [
        ("Cache-Control", isVersioned(entityTag) ? Self.immutable : "no-cache"),
        ("ETag", sentTag), ("Vary", "Accept-Encoding"),
      ] + server.fileHeaders(of: path)
    if isKnown {
      response.isHeadOnly = true
    } else {
      response.fields.append(("Content-Type", contentType))
      if let coding { response.fields.append(("Content-Encoding", coding.rawValue)) }
    }
    return response
  }

  /// A year, the longest that caches heed; a reload does not ask again (RFC 8246).
  private static let immutable = "max-age=31536000, immutable"

  /// Whether the query is `v=` and the entity tag without its quotation marks: the URL names this
  /// content, and another content has another URL.
  private func isVersioned(_ entityTag: String) -> Bool {
    head.query == "v=" + entityTag.dropFirst().dropLast()
  }
}
