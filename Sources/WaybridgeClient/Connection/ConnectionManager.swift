import WayRPC
import WayTransport
import WayValues

/// A client's logical connection to its server, over consecutive sockets, one at a time. It
/// executes the decisions of ``ReconnectState`` and ``ClientConnectionLiveness``, and passes on the
/// messages that a ``ClientMessageStream`` accepts.
///
/// Confined to the client's loop.
final class ConnectionManager: @unchecked Sendable {
  /// The timeout for the response to `session.open` or `session.resume`.
  private static let openTimeout: Duration = .seconds(10)
  /// How long an acknowledgement may wait to cover further messages.
  private static let ackDelay: Duration = .seconds(1)

  private let loop: any EventLoop
  private let connector: any ClientConnector
  private let decoder = MessageDecoder()
  private var stream = ClientMessageStream()
  private var reconnectState = ReconnectState(.never)
  private var liveness: ClientConnectionLiveness?
  private var delegate: (any ClientConnectionDelegate)?
  private var connection: ClientConnection?
  private var lastEnd = ClientConnectionEnd(code: nil)
  /// The number of messages that have arrived over all connections.
  private(set) var receivedCount: UInt64 = 0
  private var retryTimer: (any ScheduledWork)?
  private var openTimer: (any ScheduledWork)?
  private var ackTimer: (any ScheduledWork)?
  private var livenessTimer: (any ScheduledWork)?

  init(_ connector: any ClientConnector, on loop: any EventLoop) {
    self.connector = connector
    self.loop = loop
  }

  /// Whether there is no connection and none will be made.
  var hasEnded: Bool { reconnectState.phase == .idle || reconnectState.phase == .ended }
  private var isOpen: Bool { reconnectState.phase == .open }
  /// Whether a message that is sent now can reach the server, at once or later.
  var acceptsMessages: Bool { isOpen || !hasEnded && stream.isNumbered }
  var isNumbered: Bool { stream.isNumbered }
  /// Whether the buffer of unacknowledged messages is full.
  var isFull: Bool { stream.isFull }
  /// Whether a message that is sent now waits for the next connection.
  var isBuffering: Bool { isNumbered && channel == nil }
  /// The channel for messages that are sent now; nil unless the session is open.
  private var channel: (any MessageChannel)? { isOpen ? connection?.channel : nil }

  /// Connects for the first time. The manager retains the delegate until the end.
  func begin(_ limit: ReconnectLimit, for delegate: any ClientConnectionDelegate) {
    guard reconnectState.phase == .idle else { return }
    reconnectState = ReconnectState(limit)
    reconnectState.begin()
    self.delegate = delegate
    connect()
  }

  private func connect() {
    let connection = ClientConnection(of: self)
    self.connection = connection
    Task(executorPreference: loop) { [connector, loop] in
      do throws(ConnectFailure) {
        try await connector.connect { channel in
          connection.channel = channel
          loop.execute { [self] in socketConnected(connection, channel) }
          return connection
        }
      } catch {
        loop.execute { [self] in connectFailed(connection, error) }
      }
    }
  }

  private func socketConnected(_ connection: ClientConnection, _ channel: any MessageChannel) {
    guard connection === self.connection, reconnectState.socketOpened() else {
      return channel.close(.normal, "")
    }
    openTimer = loop.schedule(after: Self.openTimeout) { [weak self] in self?.openTimedOut() }
    delegate?.connectionOpened()
  }

  private func connectFailed(_ connection: ClientConnection, _ failure: ConnectFailure) {
    guard connection === self.connection else { return }
    connectionLost(failure.isFinal ? .rejected : .unreachable, failure.error)
  }

  private func openTimedOut() {
    let text = "The server did not answer session.open within \(Self.openTimeout)"
    drop(.noPong, text, CallError(.unavailable, text))
  }

  /// The session has begun. If `isResumable`, messages are numbered from now on. `pingTiming`
  /// states how long the server may be silent.
  func sessionOpened(isResumable: Bool, pingTiming: PingTiming = PingTiming()) {
    stream.begin(isNumbered: isResumable)
    markOpen(pingTiming)
  }

  /// The last numbers received and sent, for `session.resume`; nil if there is no session to
  /// resume.
  func resumePosition() -> ClientMessageStream.StreamPosition? { stream.resumePosition() }

  /// Replaces the message `number`, which the server could not read; `request` is its id if it is a
  /// request. Returns false if there is no such message, or it was replaced before.
  func replaceUnreadableMessage(_ number: UInt64, request: RequestID?) -> Bool {
    stream.replaceUnreadableMessage(number, request: request)
  }

  /// Resumes after the message `number`, the last that the server received. Sends the later
  /// messages again, then the buffered ones, and reports the numbers of these to `numbered`. Returns
  /// false, with nothing done, if that is impossible.
  func resumeSession(
    after number: UInt64, pingTiming: PingTiming, numbered: (RequestID, UInt64) -> Void
  ) -> Bool {
    guard let channel = connection?.channel,
      stream.resume(after: number, over: channel, numbered: numbered)
    else { return false }
    markOpen(pingTiming)
    return true
  }

  /// Prevents the next connection from resuming.
  func disableResume() {
    stream.disableResume()
  }

  private func markOpen(_ pingTiming: PingTiming) {
    openTimer?.cancel()
    reconnectState.sessionOpened(isResumable: stream.isNumbered, at: loop.nanoseconds)
    guard stream.isNumbered else { return }
    liveness = ClientConnectionLiveness(pingTiming, at: loop.nanoseconds)
    checkLiveness()
  }

  /// The server rejected the client.
  func sessionRejected(_ error: CallError) {
    let channel = connection?.channel
    connection = nil
    channel?.close(.normal, "")
    connectionLost(error.isRetryable ? .unreachable : .rejected, error)
  }

  /// Reconnects now if the manager waits to reconnect; pings the server if it is connected.
  func checkConnection() {
    retryTimer?.cancel()
    reconnect()
    guard isOpen else { return }
    liveness?.probe(at: loop.nanoseconds)
    checkLiveness()
  }

  /// Closes with 1000 for good.
  func close() {
    if reconnectState.close() { return end(nil) }
    connection?.channel?.close(.normal, "")
  }

  /// Closes the connection and treats it as lost at once.
  func drop(_ code: CloseCode, _ reason: String, _ error: CallError? = nil) {
    guard let connection else { return }
    self.connection = nil
    connection.channel?.close(code, reason)
    connectionLost(ClientConnectionEnd(code: code.rawValue), error)
  }

  func connectionClosed(_ connection: ClientConnection, _ end: ClientConnectionEnd) {
    if connection === self.connection { connectionLost(end) }
  }

  private func connectionLost(_ end: ClientConnectionEnd, _ error: CallError? = nil) {
    lastEnd = end
    connectionLost(.closed(end.code), error)
  }

  private func connectionLost(_ loss: ReconnectState.ConnectionLoss, _ error: CallError?) {
    connection = nil
    stream.connectionLost()
    for work in [openTimer, ackTimer, livenessTimer] { work?.cancel() }
    ackTimer = nil
    let decision = reconnectState.connectionLost(
      loss, at: loop.nanoseconds, jitter: .random(in: 0...1),
      retryAfter: error?.retryAfter ?? .zero)
    switch decision {
    case .nothing: break
    case .end: end(error)
    case .wait(let delay):
      delegate?.connectionLost(lastEnd, attempt: reconnectState.attempts + 1, delay: delay)
      if delay == .zero {
        loop.execute { [self] in reconnect() }
      } else {
        retryTimer = loop.schedule(after: delay) { [self] in reconnect() }
      }
    }
  }

  private func reconnect() {
    if reconnectState.beginRetry() { connect() }
  }

  private func end(_ error: CallError?) {
    connection = nil
    retryTimer?.cancel()
    let delegate = delegate
    self.delegate = nil
    delegate?.connectionEnded(lastEnd, error)
  }

  /// Sends a message, or buffers it until it can be sent; drops it if neither is possible. Returns
  /// the message's number if it already has one.
  @discardableResult
  func send(_ message: [UInt8], _ tag: Outbox.MessageTag = .none) -> UInt64? {
    stream.send(message, tag, over: channel)
  }

  /// Sends an unnumbered message if there is a connection.
  func sendUnnumbered(_ message: [UInt8]) {
    connection?.channel?.send(message.span.bytes, as: .text)
  }

  /// Sends an unnumbered request over this connection. If the connection is lost, there is no
  /// response.
  func requestUnnumbered(
    _ method: String, _ params: Value? = nil,
    _ completion: @escaping @Sendable (Result<Value, CallError>) -> Void
  ) {
    guard let channel = connection?.channel else { return }
    do throws(CallError) {
      try stream.requestUnnumbered(method, params, over: channel, completion)
    } catch {
      completion(.failure(error))
    }
  }

  /// Withdraws a request that was not sent yet. Returns false if it was sent.
  func withdraw(_ id: RequestID) -> Bool { stream.withdraw(id) }

  /// Removes and returns the messages that were not sent yet.
  func removeUnsent() -> [(message: [UInt8], tag: Outbox.MessageTag)] { stream.removeUnsent() }

  private func acknowledgeIfDue() {
    guard isOpen else { return }
    switch stream.ackTiming() {
    case .now: sendAck()
    case .soon where ackTimer == nil:
      ackTimer = loop.schedule(after: Self.ackDelay) { [weak self] in self?.sendAck() }
    case .soon, .never: break
    }
  }

  /// Acknowledges all messages that were received.
  func sendAck() {
    ackTimer?.cancel()
    ackTimer = nil
    guard let channel, stream.hasUnacknowledged else { return }
    stream.acknowledge(over: channel)
  }

  func receive(_ message: RawSpan, on connection: ClientConnection) {
    guard connection === self.connection else { return }
    receivedCount += 1
    liveness?.recordMessage(at: loop.nanoseconds)
    var numbers = SequenceNumbers.none
    let content = decoder.decode(message, &numbers)
    switch stream.receive(content, numbers, bytes: message.byteCount, isOpen: isOpen) {
    case .deliver: break
    case .drop: return
    case .response(let completion, let result): return completion(result)
    case .gap(let reason): return drop(.gap, reason)
    }
    switch content {
    case .message(let message): delegate?.receive(message)
    case .batch(let messages): for message in messages { delegate?.receive(message) }
    case .malformed:
      connection.channel?.close(.notJSONRPC, "The server sent a message that is not JSON-RPC")
    }
    acknowledgeIfDue()
  }

  /// Pings a server that was silent for long, and drops the connection if it stays silent.
  private func checkLiveness() {
    livenessTimer?.cancel()
    let wait: UInt64
    switch liveness?.check(at: loop.nanoseconds) {
    case nil: return
    case .wait(let time): wait = time
    case .ping(let time):
      wait = time
      requestUnnumbered("$/ping") { _ in }
    case .lost: return drop(.noPong, "nothing arrived from the server")
    }
    livenessTimer = loop.schedule(after: .nanoseconds(Int64(clamping: wait))) { [weak self] in
      self?.checkLiveness()
    }
  }
}
