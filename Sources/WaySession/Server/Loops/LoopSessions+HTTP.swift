import WayRPC
import WayRouting
import WayTransport
import WayValues

// JSON-RPC over HTTP (`POST /rpc`), for back-ends.
extension LoopSessions {
  /// Performs the calls of a request body, a message or a batch, in a session that ends with it. It
  /// responds with the JSON-RPC response, or with one of these statuses:
  /// - 204 if no message needs a response
  /// - 401 if the client is rejected
  /// - 429 if it calls too often
  /// - 503 if the server accepts no more sessions
  ///
  /// The returned work cancels the request, on any thread. Call on the loop.
  nonisolated func post(
    _ body: [UInt8], _ handshake: Handshake, _ respond: @escaping @Sendable (HTTPResponse) -> Void
  ) -> any ScheduledWork {
    let work = HTTPCall()
    work.task = Task { await self.perform(body, handshake, work, respond) }
    return work
  }

  private func perform(
    _ body: [UInt8], _ handshake: Handshake, _ work: HTTPCall,
    _ respond: @escaping @Sendable (HTTPResponse) -> Void
  ) async {
    do throws(CallError) {
      let identity = try await identity(of: handshake)
      if work.isCancelled { return }
      try perform(body, identity, handshake, work, respond)
    } catch {
      if error.protocolCode == .notAuthenticated {
        recordRejectedToken(error.message, of: EventClient(handshake))
      }
      respond(.rejection(error))
    }
  }

  private func perform(
    _ body: [UInt8], _ identity: Identity, _ handshake: Handshake, _ work: HTTPCall,
    _ respond: @escaping @Sendable (HTTPResponse) -> Void
  ) throws(CallError) {
    // A call that needs all sessions could not succeed now.
    try checkAdmission()
    meter.begin()
    let incoming = decoder.decode(body.span.bytes)
    let caller = identity.user ?? handshake.address ?? ""
    try sessionServer.httpCallerRates.withLock { (rates) throws(CallError) in
      try rates.charge(incoming.callCount, of: caller, at: loop.nanoseconds)
    }
    let session = try makeSession(of: identity, handshake, isOfRequest: true)
    let channel = SessionHTTPChannel(loop, decoder) { bytes in
      work.cancel()
      respond(bytes.map(HTTPResponse.json) ?? .rejection(.shuttingDown))
    }
    let client = try session.onLoop { session throws(CallError) in
      try session.addClient(JoiningClient(identity, handshake), on: channel)
    }
    add(session)
    work.leave = { session.removeLater(client) }
    session.assumeIsolated { dispatcher.receive(.decoded(incoming), from: client, in: $0) }
    if incoming.needsNoResponse {
      respond(HTTPResponse(status: 204))
      session.assumeIsolated { $0.leaveWhenIdle(client) }
    }
  }
}

/// Rate limits of callers that use a new connection for each call.
struct HTTPCallerRates {
  /// How many callers are remembered.
  private static let maxCallers = 1024

  private let limits: Limits
  private var rates: [UTF8Key: CallRateLimiter] = [:]

  init(_ limits: Limits) {
    self.limits = limits
  }

  /// Counts calls of a caller. Fails with 2429 if there are too many.
  mutating func charge(_ calls: Int, of caller: String, at now: UInt64) throws(CallError) {
    let caller = UTF8Key(caller)
    if rates.count >= Self.maxCallers, rates[caller] == nil { rates.removeAll() }
    var rate = rates[caller] ?? CallRateLimiter(limits)
    for _ in 0..<calls { try rate.charge(at: now) }
    rates[caller] = rate
  }
}

extension Session {
  /// Removes a client that already has its response when its calls have ended.
  fileprivate func leaveWhenIdle(_ id: ClientID) {
    guard let client = clients[id] else { return }
    if client.calls.endClientWhenIdle() { remove(id) }
  }
}

extension FrameContent {
  /// How many calls it has.
  fileprivate var callCount: Int {
    if case .batch(let messages) = self { messages.count } else { 1 }
  }

  /// Whether it needs no response: notifications, and responses to requests that do not exist.
  fileprivate var needsNoResponse: Bool {
    switch self {
    case .malformed: false
    case .message(let message): message.needsNoResponse
    case .batch(let messages): messages.allSatisfy(\.needsNoResponse)
    }
  }
}

extension Message {
  fileprivate var needsNoResponse: Bool {
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

  /// A rejection of the whole request, with a JSON-RPC error as its body.
  fileprivate static func rejection(_ error: CallError) -> HTTPResponse {
    var writer = MessageWriter()
    writer.writeError(.null, error)
    return .rejection(error, body: writer.bytes)
  }

  /// A rejection of the whole request, with a body that has the error as JSON.
  static func rejection(_ error: CallError, body: [UInt8]) -> HTTPResponse {
    let status =
      switch error.protocolCode {
      case .notAuthenticated: 401
      case .tooMany: 429
      default: 503
      }
    var response = HTTPResponse(status: status, contentType: "application/json", body: body)
    if status == 401 {
      response.fields = [("WWW-Authenticate", "Bearer")]
      response.refusalReason = error.message
    }
    return response
  }
}

/// The work for one request, which can be cancelled. Confined to its loop.
private final class HTTPCall: ScheduledWork, @unchecked Sendable {
  var task: Task<Void, Never>?
  /// Removes the client from its session.
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
  /// Handles a request like ``LoopSessions/post(_:_:_:)``, on the loops in turn. The response is
  /// sent on `loop`, which is that of the caller.
  package func post(
    _ body: [UInt8], _ handshake: Handshake, on loop: any EventLoop,
    _ respond: @escaping @Sendable (HTTPResponse) -> Void
  ) -> any ScheduledWork {
    guard let loopSessions = nextLoopSessions else {
      respond(.rejection(.shuttingDown))
      return RemoteLoopHTTPCall(loop)
    }
    if loopSessions.loop === loop { return loopSessions.post(body, handshake, respond) }
    let work = RemoteLoopHTTPCall(loopSessions.loop)
    loopSessions.loop.execute {
      work.begin(
        loopSessions.post(body, handshake) { response in loop.execute { respond(response) } })
    }
    return work
  }
}

/// The work for a request on another loop. It can be cancelled from the loop of the request.
private final class RemoteLoopHTTPCall: ScheduledWork, @unchecked Sendable {  // confined to `loop`
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
