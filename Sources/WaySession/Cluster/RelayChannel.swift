import DequeModule
import WayRouting
import WayTransport
import WayValues

/// The end of a relay at the server that owns the session. The session uses it like any connection,
/// although the socket is at another server. Confined to its loop.
final class RelayChannel: MessageChannel, @unchecked Sendable {
  let id = ChannelIDs.make()
  let loop: any EventLoop
  /// The maximum number of bytes that may wait to be sent.
  private let maxBacklog: Int
  private let send: @Sendable (RelayMessage.RelayContent) -> Void
  private let onEnd: @Sendable () -> Void
  /// Attaches a receiver when the connection is known to be still open. The range is the time in
  /// which it was accepted, in nanoseconds of the loops' clock.
  private let onOpen: @Sendable (RelayChannel, ClosedRange<UInt64>) -> Void
  private var receiver: (any MessageReceiver)?
  private var hasEnded = false
  private var isAdmitted = false
  private var isPaused = false
  /// Whether it receives again in the next turn of the loop.
  private var isResuming = false
  /// Messages that arrived while it is paused.
  private var pendingMessages: Deque<[UInt8]> = []
  /// Bytes that were sent, and that the connection has not processed.
  private(set) var bufferedBytes = 0
  private var identities = RelayedIdentities()
  /// Bytes that were processed, and that the entry server does not know of yet.
  private var pendingCredit = 0

  /// Creates a channel. `onEnd` is called once, when the relay has ended.
  init(
    _ loop: any EventLoop, maxBacklog: Int,
    send: @escaping @Sendable (RelayMessage.RelayContent) -> Void,
    onEnd: @escaping @Sendable () -> Void,
    onOpen: @escaping @Sendable (RelayChannel, ClosedRange<UInt64>) -> Void
  ) {
    self.onOpen = onOpen
    self.loop = loop
    // Messages in transit do not wait in another buffer.
    self.maxBacklog = maxBacklog + RelayPort.window
    self.send = send
    self.onEnd = onEnd
  }

  /// Returns the identity of the client, as the entry server has verified it. `reference` is what the
  /// client's message contains instead of the token; nil for no token. Throws the error with which
  /// the token was rejected, and 2401 if the identity has expired by `now`, in milliseconds since
  /// 1970-01-01 UTC.
  func identity(for reference: String?, at now: Int64) throws(CallError) -> Identity {
    try identities.identity(for: reference, at: now)
  }

  func attach(_ receiver: any MessageReceiver) { self.receiver = receiver }

  func send(_ message: RawSpan, as kind: MessageKind) {
    guard !hasEnded, kind == .text else { return }
    guard bufferedBytes <= maxBacklog else {
      return close(.slowConsumer, "more than \(maxBacklog) bytes wait to be sent")
    }
    bufferedBytes += message.byteCount
    send(.text(message.withUnsafeBytes { [UInt8]($0) }))
  }

  /// The limits before it belong to the entry server.
  func admit() {
    guard !isAdmitted, !hasEnded else { return }
    isAdmitted = true
    send(.admitted)
  }

  func pause() {
    isPaused = true
    isResuming = false
  }

  func resume() {
    guard isPaused else { return }
    isResuming = true
    loop.execute { [self] in
      // It may have been paused again.
      guard isResuming else { return }
      (isPaused, isResuming) = (false, false)
      deliverPending()
    }
  }

  private func deliverPending() {
    while !isPaused, let next = pendingMessages.popFirst() { deliver(next) }
  }

  func close(_ code: CloseCode, _ reason: String) {
    guard !hasEnded else { return }
    send(.close(code.rawValue, reason))
    end(code.rawValue)
  }

  /// Receives a message of the entry server. May be called from any thread.
  func receive(_ content: RelayMessage.RelayContent) {
    loop.execute { [self] in handle(content) }
  }

  private func handle(_ content: RelayMessage.RelayContent) {
    guard !hasEnded else { return }
    switch content {
    case .open(let request):
      if let identity = request.identity { identities.add(identity) }
      send(.ready(loop.nanoseconds))
    case .identity(let identity): identities.add(identity)
    case .ready, .admitted: break
    case .first(let ready, let age, let bytes):
      guard receiver == nil else { return }
      let now = loop.nanoseconds
      guard ready <= now else {
        return close(.drain, "the first message of the relay has an invalid time")
      }
      onOpen(self, (ready > age ? ready - age : 0)...(now > age ? now - age : 0))
      deliver(bytes)
      deliverPending()
    case .text(let bytes):
      // A message that was sent after the first one may arrive before it.
      if receiver == nil || isPaused || !pendingMessages.isEmpty {
        pendingMessages.append(bytes)
      } else {
        deliver(bytes)
      }
    case .credit(let count): bufferedBytes -= min(count, bufferedBytes)
    case .close(let code, _): end(code)
    }
  }

  private func deliver(_ bytes: [UInt8]) {
    receiver?.receive(bytes.span.bytes, as: .text)
    pendingCredit += bytes.count
    guard pendingCredit > RelayPort.window / 8 else { return }
    send(.credit(pendingCredit))
    pendingCredit = 0
  }

  private func end(_ code: UInt16?) {
    hasEnded = true
    pendingMessages = []
    onEnd()
    loop.execute { [self] in
      let receiver = receiver
      self.receiver = nil
      receiver?.closed(code)
    }
  }
}
