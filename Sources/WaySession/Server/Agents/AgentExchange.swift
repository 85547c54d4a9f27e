import WayAgents
import WayRPC
import WayTransport
import WayValues

/// One POST of an agent and its response: JSON, or a stream of events if something has to be sent
/// before the response, or the response takes long. Confined to the loop of the request.
final class AgentExchange: ScheduledWork, @unchecked Sendable {
  private enum AgentExchangeState {
    /// Nothing has been sent. Becomes one of the others.
    case open
    /// A stream was sent, and the response has yet to follow. `nil` before the stream has started.
    /// Becomes `ended`.
    case streaming((any HTTPStreamWriter)?)
    /// The response was sent, or the client has gone.
    case ended
  }

  /// After this time a call's response becomes a stream, which proxies do not cut.
  private static let silence: Duration = .seconds(15)
  /// While more bytes wait for a client, progress is not reported to it.
  private static let maxHeldReports = 64 << 10
  /// The maximum number of bytes that wait for a client.
  private static let maxHeldBytes = 32 << 20

  private let head: MCPRequestHead
  private let loop: any EventLoop
  private let respond: @Sendable (HTTPResponse) -> Void
  private var state = AgentExchangeState.open
  /// Events that wait for the start of the stream.
  private var pendingEvents: [[UInt8]] = []
  private var hasResponse = false
  private var task: Task<Void, Never>?
  private var timer: (any ScheduledWork)?
  /// Releases what the request has started; nil while there is nothing.
  private var stop: (@Sendable () -> Void)?
  /// The last message if the server ends the stream early; nil for none.
  private var lastMessage: MCPMessage?

  init(
    _ head: MCPRequestHead, on loop: any EventLoop,
    _ respond: @escaping @Sendable (HTTPResponse) -> Void
  ) {
    self.head = head
    self.loop = loop
    self.respond = respond
  }

  /// Runs the work of the request. Call once, on the loop.
  func run(_ work: @escaping @Sendable () async -> Void) {
    task = Task { await work() }
  }

  /// Starts work that ends with ``finish(_:)-(MCPMessage)``, unless the client has gone. `stop` is
  /// called at the end, also if the client goes before. If the server ends earlier, the response is
  /// `lastMessage`. May be called from any thread.
  func begin(
    _ lastMessage: MCPMessage, start: @escaping @Sendable () -> Void,
    stop: @escaping @Sendable () -> Void
  ) {
    loop.execute { [self] in
      guard case .open = state else { return stop() }
      (self.lastMessage, self.stop) = (lastMessage, stop)
      timer = loop.schedule(after: Self.silence) { [weak self] in self?.openStream() }
      start()
    }
  }

  /// Sends a message before the response. Progress for a client that reads slowly is left out. May be
  /// called from any thread.
  func report(_ message: MCPMessage) {
    loop.execute { [self] in
      openStream()
      if case .streaming(let writer?) = state, writer.heldBytes > Self.maxHeldReports { return }
      send(message)
    }
  }

  /// Sends the response. May be called from any thread.
  func finish(_ message: MCPMessage) {
    loop.execute { [self] in
      switch state {
      case .open where head.acceptsJSON:
        end(HTTPResponse(status: 200, contentType: jsonType, body: message.bytes))
      case .open, .streaming:
        openStream()
        send(message)
        hasResponse = true
        endStream()
      case .ended: break
      }
    }
  }

  /// Sends a response that is not one of JSON-RPC to a request, or an error of a request that has
  /// started nothing. May be called from any thread.
  func finish(_ response: HTTPResponse) {
    loop.execute { [self] in
      if case .open = state { end(response) }
    }
  }

  /// Ends the request, whose client has gone before it had a response.
  func cancel() { loop.execute { [self] in abandon() } }

  private func end(_ response: HTTPResponse) {
    state = .ended
    clear()
    respond(response)
  }

  private func abandon() {
    if case .ended = state { return }
    state = .ended
    task?.cancel()
    clear()
  }

  private func clear() {
    timer?.cancel()
    stop?()
    (task, timer, stop, lastMessage, pendingEvents) = (nil, nil, nil, nil, [])
  }
}

// The stream.
extension AgentExchange: HTTPStreamProducer {
  private func openStream() {
    guard case .open = state, head.acceptsEvents else { return }
    timer?.cancel()
    state = .streaming(nil)
    respond(.events(from: self, maxHeldBytes: Self.maxHeldBytes, isAuthenticated: true))
  }

  private func send(_ message: MCPMessage) {
    guard case .streaming(let writer) = state else { return }
    if let writer { writer.send(message.event) } else { pendingEvents.append(message.event) }
  }

  /// Ends the stream after the response, if it has started.
  private func endStream() {
    guard hasResponse, case .streaming(let writer?) = state else { return }
    state = .ended
    clear()
    writer.end()
  }

  func start(_ writer: any HTTPStreamWriter) {
    guard case .streaming = state else { return writer.end() }
    state = .streaming(writer)
    for event in pendingEvents { writer.send(event) }
    pendingEvents = []
    endStream()
  }

  func finishEarly(_ writer: any HTTPStreamWriter) {
    guard case .streaming = state else { return }
    if let lastMessage { writer.send(lastMessage.event) }
    abandon()
    writer.end()
  }

  func ended(_ end: HTTPStreamEnd) { abandon() }
}
