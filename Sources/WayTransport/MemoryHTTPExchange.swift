import Synchronization

/// An HTTP request inside the process, and the response to it. The request is handled as on a
/// connection of a server, without its access rules and limits of connections.
package final class MemoryHTTPExchange: HTTPStreamWriter {
  /// What the client receives.
  package enum MemoryResponseEvent: Sendable {
    /// The response. If it has a stream, parts follow.
    case response(HTTPResponse)
    /// A part of a streamed body.
    case part([UInt8])
    /// A streamed body has ended. It is complete only with ``HTTPStreamEnd/completed``.
    case end(HTTPStreamEnd)
  }

  private enum ExchangeState {
    /// The response is not known yet. `cancel` stops the work that makes it.
    case responding(cancel: @Sendable () -> Void)
    case streaming(HTTPResponseStream)
    case ended
  }

  private struct HeldParts {
    var isPaused = false
    var parts: [[UInt8]] = []
    var count: Int { parts.reduce(0) { $0 + $1.count } }
    /// Whether the producer has ended the body.
    var isFinished = false
    /// Whether something was sent since the last check.
    var hasSent = false
  }

  package let loop: any EventLoop
  /// What the client has received, in order.
  package let events = Mailbox<MemoryResponseEvent>()
  private let memoryLoop: MemoryLoop
  private let limits: Limits
  private let state = Mutex(ExchangeState.responding(cancel: {}))
  private let held = Mutex(HeldParts())

  /// Sends a request, whose body is complete, to a responder.
  package init(
    _ request: HTTPRequest, body: [UInt8] = [], to responder: @escaping HTTPResponder,
    on loop: MemoryLoop, limits: Limits = Limits()
  ) {
    self.loop = loop
    memoryLoop = loop
    self.limits = limits
    loop.execute { self.perform(request, body, responder) }
  }

  private func perform(_ request: HTTPRequest, _ body: [UInt8], _ responder: HTTPResponder) {
    let respond: @Sendable (HTTPResponse) -> Void = { response in
      self.respond(response, isHead: request.method == "HEAD")
    }
    switch responder(request) {
    case nil: respond(HTTPResponse(status: 404))
    case .respond(let response): respond(response)
    case .respondLater(let start, _):
      let work = start(respond)
      setCancel { work.cancel() }
    case .readBody(let handler):
      guard body.count <= handler.limit else { return respond(HTTPResponse(status: 413)) }
      let type = request.values("content-type").first?.prefix { $0 != ";" }
      guard type.map(String.init) == handler.contentType else {
        return respond(HTTPResponse(status: 415))
      }
      let work = handler.handle(body, respond)
      setCancel { work.cancel() }
    case .streamBody(let stream):
      guard body.count <= stream.limit else { return respond(HTTPResponse(status: 413)) }
      let receiver = stream.receiver
      setCancel { receiver.cancel() }
      let finish: @Sendable () -> Void = { [memoryLoop] in
        receiver.finish { response in memoryLoop.execute { respond(response) } }
      }
      if body.isEmpty { return finish() }
      receiver.receive(body) { [memoryLoop] response in
        memoryLoop.execute { if let response { respond(response) } else { finish() } }
      }
    }
  }

  private func setCancel(_ cancel: @escaping @Sendable () -> Void) {
    state.withLock { state in
      // The response may have been made at once.
      if case .responding = state { state = .responding(cancel: cancel) }
    }
  }

  private func respond(_ response: HTTPResponse, isHead: Bool) {
    let isStreamed = response.stream != nil && !isHead
    let isExpected = state.withLock { state in
      guard case .responding = state else { return false }
      if let stream = response.stream, !isHead {
        state = .streaming(stream)
      } else {
        state = .ended
      }
      return true
    }
    guard isExpected else { return response.discardStream(on: loop) }
    events.put(.response(response))
    guard isStreamed, let stream = response.stream else {
      return response.discardStream(on: loop)
    }
    memoryLoop.execute {
      if self.stream != nil { stream.producer.start(self) }
    }
    scheduleKeepAlive()
  }

  /// The stream that has not ended; `nil` if there is none.
  private var stream: HTTPResponseStream? {
    state.withLock { if case .streaming(let stream) = $0 { stream } else { nil } }
  }

  private func scheduleKeepAlive() {
    _ = memoryLoop.schedule(after: limits.ping) { [weak self] in
      guard let self, let stream else { return }
      let hasSent = held.withLock { held in
        defer { held.hasSent = false }
        return held.hasSent
      }
      if !hasSent { send(stream.keepAlive) }
      scheduleKeepAlive()
    }
  }

  package var heldBytes: Int { held.withLock(\.count) }

  package func send(_ part: [UInt8]) {
    guard !part.isEmpty, let stream else { return }
    let maxHeldBytes = stream.maxHeldBytes ?? limits.maxQueueBytes
    let hasRoom = held.withLock { held in
      if held.isFinished { return true }
      guard held.count + part.count <= maxHeldBytes else { return false }
      held.hasSent = true
      held.parts.append(part)
      return true
    }
    if hasRoom { flushLater() } else { end(.slowConsumer) }
  }

  package func end() {
    held.withLock { $0.isFinished = true }
    flushLater()
  }

  private func flushLater() { memoryLoop.execute { self.flush() } }

  /// Passes held parts to the client, unless it does not read.
  private func flush() {
    guard stream != nil else { return }
    let (parts, isComplete) = held.withLock { held in
      guard !held.isPaused else { return ([[UInt8]](), false) }
      defer { held.parts = [] }
      return (held.parts, held.isFinished)
    }
    for part in parts { events.put(.part(part)) }
    if isComplete { end(.completed) }
  }

  /// Ends the stream, if it has not ended.
  private func end(_ end: HTTPStreamEnd) {
    let stream = state.withLock { state -> HTTPResponseStream? in
      guard case .streaming(let stream) = state else { return nil }
      state = .ended
      return stream
    }
    guard let stream else { return }
    held.withLock { $0.parts = [] }
    events.put(.end(end))
    memoryLoop.execute { stream.producer.ended(end) }
  }

  /// Stops reading, as a slow client does, until ``resume()``.
  package func pause() { held.withLock { $0.isPaused = true } }

  package func resume() {
    held.withLock { $0.isPaused = false }
    flushLater()
  }

  /// Closes the client's end of the connection.
  package func close() {
    memoryLoop.execute { [self] in
      let cancel = state.withLock { state -> (@Sendable () -> Void)? in
        guard case .responding(let cancel) = state else { return nil }
        state = .ended
        return cancel
      }
      cancel?()
      end(.disconnected)
    }
  }

  /// Shuts the server down: the producer of a streamed response ends it soon.
  package func drain() {
    memoryLoop.execute { [self] in stream?.producer.finishEarly(self) }
  }
}
