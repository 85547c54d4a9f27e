import WayRPC
import WayRouting
import WayTransport
import WayValues

// JSON-RPC over HTTP (`POST /rpc`), for back-ends.
extension LoopSessions {
  /// Carries out the body of a request, a message or a batch, in a session that ends with it, and
  /// answers: with the response, with 204 where nothing is to be answered, with 401 for who is
  /// refused, with 429 for who calls too often, and with 503 where the server takes nobody more.
  /// What is given ends it before its time, on any thread. Call on the loop.
  nonisolated func post(
    _ body: [UInt8], _ handshake: Handshake, _ answer: @escaping @Sendable (HTTPResponse) -> Void
  ) -> any ScheduledWork {
    let work = HTTPCall()
    work.task = Task { await self.carryOut(body, handshake, work, answer) }
    return work
  }

  private func carryOut(
    _ body: [UInt8], _ handshake: Handshake, _ work: HTTPCall,
    _ answer: @escaping @Sendable (HTTPResponse) -> Void
  ) async {
    do throws(CallError) {
      let identity = try await identity(of: handshake)
      if work.isCancelled { return }
      try carryOut(body, identity, handshake, work, answer)
    } catch {
      switch error.protocolCode {
      case .notAuthenticated:
        tokenRefused(error.message, address: handshake.address)
        answer(.refusal(401, error))
      case .tooMany: answer(.refusal(429, error))
      default: answer(.refusal(503, error))
      }
    }
  }

  private func carryOut(
    _ body: [UInt8], _ identity: Identity, _ handshake: Handshake, _ work: HTTPCall,
    _ answer: @escaping @Sendable (HTTPResponse) -> Void
  ) throws(CallError) {
    // What it asks of all sessions has no answer now.
    try checkOpen()
    meter.begin()
    let incoming = decoder.decode(body.span.bytes)
    let caller = identity.user ?? handshake.address ?? ""
    try group.posters.withLock { (posters) throws(CallError) in
      try posters.take(incoming.count, of: caller, at: loop.nanoseconds)
    }
    let session = try makeSession(of: identity)
    let channel = HTTPRequestChannel(loop, decoder) { bytes in
      work.cancel()
      answer(bytes.map(HTTPResponse.json) ?? .refusal(503, .serverEnds))
    }
    let client = try session.assumeIsolated { session in
      Result { () throws(CallError) in
        let client = try session.makeClient(JoiningClient(identity, handshake), channel: channel)
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
}

/// How often those call who have a connection anew for each call.
struct HTTPCallerRates {
  /// How many are remembered.
  private static let limit = 1024

  private let limits: Limits
  private var rates: [String: CallRateLimiter] = [:]

  init(_ limits: Limits) {
    self.limits = limits
  }

  /// Counts calls of somebody. Fails with 2429 for too many.
  mutating func take(_ calls: Int, of caller: String, at now: UInt64) throws(CallError) {
    if rates.count >= Self.limit, rates[caller] == nil { rates.removeAll() }
    var rate = rates[caller] ?? CallRateLimiter(limits)
    for _ in 0..<calls { try rate.take(at: now) }
    rates[caller] = rate
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

extension FrameContent {
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
private final class HTTPCall: ScheduledWork, @unchecked Sendable {
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

extension SessionServer {
  /// As ``SessionHub/post(_:_:_:)``, on one loop after another; the answer comes on `loop`, which is
  /// that of who calls.
  package func post(
    _ body: [UInt8], _ handshake: Handshake, on loop: any EventLoop,
    _ answer: @escaping @Sendable (HTTPResponse) -> Void
  ) -> any ScheduledWork {
    guard let hub = nextHub else {
      answer(.refusal(503, .serverEnds))
      return PostedElsewhere(loop)
    }
    if hub.loop === loop { return hub.post(body, handshake, answer) }
    let work = PostedElsewhere(hub.loop)
    hub.loop.execute {
      work.begin(hub.post(body, handshake) { response in loop.execute { answer(response) } })
    }
    return work
  }
}

/// The work for a request on another loop, which can be ended from that of the request.
private final class PostedElsewhere: ScheduledWork, @unchecked Sendable {  // confined to `loop`
  private let loop: any EventLoop
  private var work: (any ScheduledWork)?

  init(_ loop: any EventLoop) {
    self.loop = loop
  }

  func begin(_ work: any ScheduledWork) { self.work = work }

  func cancel() {
    loop.execute { self.work?.cancel() }
  }
}
