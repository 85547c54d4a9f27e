import WayRPC
import WayRouting
import WayTransport
import WayValues

// JSON-RPC over HTTP (`POST /rpc`), for back-ends.
extension SessionHub {
  /// How many callers' rates are remembered.
  private static let maxPosters = 1024

  /// Carries out the body of a request, a message or a batch, in a session that ends with it, and
  /// answers: with the response, with 204 where nothing is to be answered, with 401 for who is
  /// refused, with 429 for who calls too often, and with 503 where the server takes nobody more.
  /// What is given ends it before its time. Call on the loop.
  package nonisolated func post(
    _ body: [UInt8], _ handshake: Handshake, _ answer: @escaping @Sendable (HTTPResponse) -> Void
  ) -> any ScheduledWork {
    let work = PostedWork()
    work.task = Task { await self.carryOut(body, handshake, work, answer) }
    return work
  }

  private func carryOut(
    _ body: [UInt8], _ handshake: Handshake, _ work: PostedWork,
    _ answer: @escaping @Sendable (HTTPResponse) -> Void
  ) async {
    do throws(CallError) {
      let identity = try await identity(of: handshake)
      if work.isCancelled { return }
      try carryOut(body, identity, handshake, work, answer)
    } catch {
      switch error.protocolCode {
      case .notAuthenticated:
        tokenRefused(error.message)
        answer(.refusal(401, error))
      case .tooMany: answer(.refusal(429, error))
      default: answer(.refusal(503, error))
      }
    }
  }

  private func carryOut(
    _ body: [UInt8], _ identity: Identity, _ handshake: Handshake, _ work: PostedWork,
    _ answer: @escaping @Sendable (HTTPResponse) -> Void
  ) throws(CallError) {
    meter.begin()
    let incoming = decoder.decode(body.span.bytes)
    try count(incoming.count, of: identity.user ?? handshake.address ?? "")
    let session = try makeSession(of: identity)
    let channel = PostChannel(loop, decoder) { bytes in
      work.cancel()
      answer(bytes.map(HTTPResponse.json) ?? .refusal(503, .serverEnds))
    }
    let client = try session.assumeIsolated { session in
      Result { () throws(CallError) in
        let client = try session.makeClient(Newcomer(identity, handshake), channel: channel)
        session.add(client)
        return client.id
      }
    }.get()
    add(session)
    work.leave = { [loop] in
      loop.execute { session.assumeIsolated { $0.remove(client) } }
    }
    session.assumeIsolated { inbox.take(.other(incoming), from: client, in: $0) }
    if incoming.isSilent {
      answer(HTTPResponse(status: 204))
      session.assumeIsolated { $0.leaveWhenIdle(client) }
    }
  }

  /// Counts the calls of somebody, who has a connection anew for each. Fails with 2429 for too many.
  private func count(_ calls: Int, of caller: String) throws(CallError) {
    let now = loop.nanoseconds
    if posters.count >= Self.maxPosters, posters[caller] == nil { posters.removeAll() }
    var rate = posters[caller] ?? CallRate(limits)
    for _ in 0..<calls { try rate.take(at: now) }
    posters[caller] = rate
  }
}

extension Session {
  /// A client that is answered already leaves when its calls have ended.
  fileprivate func leaveWhenIdle(_ id: ClientID) {
    guard let client = members[id] else { return }
    if client.isIdle { return remove(id) }
    client.leavesWhenIdle = true
  }
}

extension Incoming {
  /// How many calls it has.
  fileprivate var count: Int { if case .batch(let messages) = self { messages.count } else { 1 } }

  /// Whether nothing is to be answered: notifications, and responses that nobody has asked for.
  fileprivate var isSilent: Bool {
    switch self {
    case .malformed: false
    case .message(let message): message.isSilent
    case .batch(let messages): messages.allSatisfy(\.isSilent)
    }
  }
}

extension Message {
  fileprivate var isSilent: Bool {
    switch self {
    case .notification, .response: true
    case .request, .invalid: false
    }
  }
}

extension HTTPResponse {
  fileprivate static func json(_ bytes: [UInt8]) -> HTTPResponse {
    HTTPResponse(status: 200, contentType: "application/json", body: bytes)
  }

  /// A refusal of the whole request, told as JSON-RPC tells it.
  fileprivate static func refusal(_ status: Int, _ error: CallError) -> HTTPResponse {
    var writer = MessageWriter()
    writer.error(.null, error)
    var response = HTTPResponse(
      status: status, contentType: "application/json", body: writer.bytes)
    if status == 401 { response.fields = [("WWW-Authenticate", "Bearer")] }
    return response
  }
}

/// The work for one request, which can be ended. Confined to its loop.
private final class PostedWork: ScheduledWork, @unchecked Sendable {
  var task: Task<Void, Never>?
  /// Takes its client out of the session.
  var leave: (() -> Void)?
  private(set) var isCancelled = false

  func cancel() {
    isCancelled = true
    task?.cancel()
    leave?()
    leave = nil
  }
}
