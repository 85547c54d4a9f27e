import WayRPC
import WayTransport
import WayValues

/// A client's line to its server, over as many connections as that takes, one at a time: it carries
/// out what ``ConnectionLife`` and ``Liveness`` decide, and hands on what a ``Conversation`` lets
/// through.
///
/// Confined to the client's loop.
final class Line: @unchecked Sendable {
  /// How long the server may take to answer the hello.
  private static let helloPatience: Duration = .seconds(10)
  /// How long an acknowledgement may wait for more that it tells.
  private static let ackPatience: Duration = .seconds(1)

  private let loop: any EventLoop
  private let connector: any ClientConnector
  private let decoder = MessageDecoder()
  private var conversation = Conversation()
  private var life = ReconnectState(.never)
  private var liveness: Liveness?
  private var user: (any LineUser)?
  private var connection: ClientConnection?
  private var lastEnd = ClientConnectionEnd(code: nil)
  private var retry: (any ScheduledWork)?
  private var hello: (any ScheduledWork)?
  private var ack: (any ScheduledWork)?
  private var watch: (any ScheduledWork)?

  init(_ connector: any ClientConnector, on loop: any EventLoop) {
    self.connector = connector
    self.loop = loop
  }

  /// Whether there is no connection, and will be none.
  var isOver: Bool { life.state == .idle || life.state == .ended }
  private var isOpen: Bool { life.state == .open }
  /// Whether what is said now reaches the server some time.
  var takesMessages: Bool { isOpen || !isOver && conversation.isNumbered }
  var isNumbered: Bool { conversation.isNumbered }
  /// Whether nothing more can be kept for the server.
  var isFull: Bool { conversation.isFull }
  /// Whether what is said now waits for the next connection.
  var isHolding: Bool { isNumbered && channel == nil }
  /// Where what is said goes to now.
  private var channel: (any MessageChannel)? { isOpen ? connection?.channel : nil }

  // MARK: Connecting

  /// Connects for the first time. The user is held until the end.
  func begin(_ reconnection: BridgeClient.Reconnection, for user: any LineUser) {
    guard life.state == .idle else { return }
    life = ReconnectState(reconnection)
    life.begin()
    self.user = user
    connect()
  }

  private func connect() {
    let connection = ClientConnection(of: self)
    self.connection = connection
    Task(executorPreference: loop) { [connector, loop] in
      do throws(ConnectFailure) {
        try await connector.connect { channel in
          connection.channel = channel
          loop.execute { [self] in connected(connection, channel) }
          return connection
        }
      } catch {
        loop.execute { [self] in failed(connection, error) }
      }
    }
  }

  private func connected(_ connection: ClientConnection, _ channel: any MessageChannel) {
    guard connection === self.connection, life.connected() else {
      return channel.close(.normal, "")
    }
    hello = loop.schedule(after: Self.helloPatience) { [weak self] in self?.helloIsLate() }
    user?.connected()
  }

  private func failed(_ connection: ClientConnection, _ failure: ConnectFailure) {
    guard connection === self.connection else { return }
    lost(failure.isFinal ? .refused : .unreachable, failure.error)
  }

  private func helloIsLate() {
    let text = "The server has not answered the hello in \(Self.helloPatience)"
    drop(.noPong, text, CallError(.unavailable, text))
  }

  /// A session has begun: from now on what is said is numbered, where `isResumable`. `silence` is
  /// how long the server may be silent.
  func opened(isResumable: Bool, silence: Silence = Silence()) {
    conversation.begin(isNumbered: isResumable)
    isNowOpen(silence)
  }

  /// How far both sides have come, for the server to go on after; nil where there is nothing to go on
  /// with.
  func reached() -> Conversation.Reached? { conversation.reached() }

  /// The server goes on that has taken what was sent up to `number`: it is sent the rest again, then
  /// what has waited, whose numbers are told. False, with nothing done, where that is impossible.
  func resumed(
    after number: UInt64, silence: Silence, numbered: (RequestID, UInt64) -> Void
  ) -> Bool {
    guard let channel = connection?.channel,
      conversation.resume(after: number, over: channel, numbered: numbered)
    else { return false }
    isNowOpen(silence)
    return true
  }

  /// The next connection has nothing to go on with.
  func forget() {
    conversation.forget()
  }

  private func isNowOpen(_ silence: Silence) {
    hello?.cancel()
    life.opened(isResumable: conversation.isNumbered, at: loop.nanoseconds)
    guard conversation.isNumbered else { return }
    liveness = Liveness(silence, at: loop.nanoseconds)
    lookForLife()
  }

  /// The server has not let the client in.
  func refused(_ error: CallError) {
    let channel = connection?.channel
    connection = nil
    channel?.close(.normal, "")
    lost(error.isRetryable ? .unreachable : .refused, error)
  }

  /// Connects now, where it waits to connect, and asks a server that it is connected to whether it is
  /// there.
  func hasten() {
    retry?.cancel()
    connectAgain()
    guard isOpen else { return }
    liveness?.doubt(at: loop.nanoseconds)
    lookForLife()
  }

  /// Closes with 1000, which is the end.
  func close() {
    if life.close() { return end(nil) }
    connection?.channel?.close(.normal, "")
  }

  /// Gives the connection up, which counts as lost at once.
  func drop(_ code: CloseCode, _ reason: String, _ error: CallError? = nil) {
    guard let connection else { return }
    self.connection = nil
    connection.channel?.close(code, reason)
    lost(ClientConnectionEnd(code: code.rawValue), error)
  }

  func closed(_ connection: ClientConnection, _ end: ClientConnectionEnd) {
    if connection === self.connection { lost(end) }
  }

  private func lost(_ end: ClientConnectionEnd, _ error: CallError? = nil) {
    lastEnd = end
    lost(.closed(end.code), error)
  }

  private func lost(_ loss: ReconnectState.Loss, _ error: CallError?) {
    connection = nil
    conversation.interrupt()
    for work in [hello, ack, watch] { work?.cancel() }
    ack = nil
    switch life.lost(loss, at: loop.nanoseconds, jitter: .random(in: 0...1)) {
    case .nothing: break
    case .end: end(error)
    case .wait(let delay):
      user?.lost(lastEnd, attempt: life.attempts + 1, delay: delay)
      if delay == .zero {
        loop.execute { [self] in connectAgain() }
      } else {
        retry = loop.schedule(after: delay) { [self] in connectAgain() }
      }
    }
  }

  private func connectAgain() {
    if life.due() { connect() }
  }

  private func end(_ error: CallError?) {
    connection = nil
    retry?.cancel()
    let user = user
    self.user = nil
    user?.ended(lastEnd, error)
  }

  // MARK: Sending

  /// Sends a message, or keeps it until it can be sent; what cannot be kept is dropped. Gives its
  /// number, where it has one by now.
  @discardableResult
  func send(_ message: [UInt8], _ tag: Outbox.Tag = .none) -> UInt64? {
    conversation.send(message, tag, over: channel)
  }

  /// Sends what has no number, where there is somebody to take it.
  func sendApart(_ message: [UInt8]) {
    connection?.channel?.send(message.span.bytes, as: .text)
  }

  /// Asks what has no number, of this connection: when that is lost, nobody answers.
  func ask(
    _ method: String, _ params: Value? = nil,
    _ answer: @escaping @Sendable (Result<Value, CallError>) -> Void
  ) {
    guard let channel = connection?.channel else { return }
    do throws(CallError) {
      try conversation.ask(method, params, over: channel, answer)
    } catch {
      answer(.failure(error))
    }
  }

  /// Takes a request back that was not sent yet; false where it was.
  func takeBack(_ id: RequestID) -> Bool { conversation.takeBack(id) }

  /// Takes out what was not sent yet.
  func takeWaiting() -> [(message: [UInt8], tag: Outbox.Tag)] { conversation.takeWaiting() }

  private func acknowledge() {
    guard isOpen else { return }
    switch conversation.dueAck() {
    case .now: sendAck()
    case .soon where ack == nil:
      ack = loop.schedule(after: Self.ackPatience) { [weak self] in self?.sendAck() }
    case .soon, .never: break
    }
  }

  /// Acknowledges all that has come.
  func sendAck() {
    ack?.cancel()
    ack = nil
    guard let channel, conversation.owesAck else { return }
    conversation.acknowledge(over: channel)
  }

  // MARK: Receiving

  func receive(_ message: RawSpan, on connection: ClientConnection) {
    guard connection === self.connection else { return }
    liveness?.hear(at: loop.nanoseconds)
    var numbers = SequenceNumbers.none
    let incoming = decoder.decode(message, &numbers)
    switch conversation.admit(incoming, numbers, bytes: message.byteCount, isOpen: isOpen) {
    case .take: break
    case .drop: return
    case .answer(let answer, let result): return answer(result)
    case .gap(let reason): return drop(.gap, reason)
    }
    switch incoming {
    case .message(let message): user?.take(message)
    case .batch(let messages): for message in messages { user?.take(message) }
    case .malformed:
      connection.channel?.close(.notJSONRPC, "The server sent what is not JSON-RPC")
    }
    acknowledge()
  }

  /// Asks a server that has been silent for long, and gives the connection up where it stays so.
  private func lookForLife() {
    watch?.cancel()
    let wait: UInt64
    switch liveness?.look(at: loop.nanoseconds) {
    case nil: return
    case .wait(let time): wait = time
    case .ask(let time):
      wait = time
      ask("$/ping") { _ in }
    case .lost: return drop(.noPong, "nothing came from the server")
    }
    watch = loop.schedule(after: .nanoseconds(Int64(clamping: wait))) { [weak self] in
      self?.lookForLife()
    }
  }
}
