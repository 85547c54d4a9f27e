import DequeModule
import WayTransport

/// The end of a relay at the server that has the session: a connection like any other, which is at
/// another server. Confined to its loop.
final class RelayChannel: MessageChannel, @unchecked Sendable {
  let id = ChannelIDs.make()
  let loop: any EventLoop
  /// Bytes that may wait to be sent.
  private let maxBacklog: Int
  private let send: @Sendable (RelayMessage.Content) -> Void
  private let ended: @Sendable () -> Void
  /// Attaches a receiver when the connection is known to be there still, and between which times of
  /// the loops' clock it came.
  private let begun: @Sendable (RelayChannel, ClosedRange<UInt64>) -> Void
  private var receiver: (any MessageReceiver)?
  private var isOver = false
  private var isPaused = false
  /// Whether it receives again in the next turn.
  private var isResuming = false
  /// What has come while it is paused.
  private var held: Deque<[UInt8]> = []
  /// Bytes that were sent, and that the connection has not taken.
  private(set) var bufferedBytes = 0
  /// Bytes that were taken, and that the entrance is not told of.
  private var owed = 0

  /// `ended` is told once, when nothing passes any more.
  init(
    _ loop: any EventLoop, maxBacklog: Int,
    send: @escaping @Sendable (RelayMessage.Content) -> Void,
    ended: @escaping @Sendable () -> Void,
    begun: @escaping @Sendable (RelayChannel, ClosedRange<UInt64>) -> Void
  ) {
    self.begun = begun
    self.loop = loop
    // What is on its way waits nowhere else.
    self.maxBacklog = maxBacklog + RelayPort.window
    self.send = send
    self.ended = ended
  }

  func attach(_ receiver: any MessageReceiver) { self.receiver = receiver }

  func send(_ message: RawSpan, as kind: MessageKind) {
    guard !isOver, kind == .text else { return }
    guard bufferedBytes <= maxBacklog else {
      return close(.slowConsumer, "more than \(maxBacklog) bytes wait to be sent")
    }
    bufferedBytes += message.byteCount
    send(.text(message.withUnsafeBytes { [UInt8]($0) }))
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
      deliverHeld()
    }
  }

  private func deliverHeld() {
    while !isPaused, let next = held.popFirst() { deliver(next) }
  }

  func close(_ code: CloseCode, _ reason: String) {
    guard !isOver else { return }
    send(.close(code.rawValue, reason))
    end(code.rawValue)
  }

  /// Something has come from the entrance. May be called from any thread.
  func take(_ content: RelayMessage.Content) {
    loop.execute { [self] in carryOut(content) }
  }

  private func carryOut(_ content: RelayMessage.Content) {
    guard !isOver else { return }
    switch content {
    case .open: send(.ready(loop.nanoseconds))
    case .ready: break
    case .first(let ready, let age, let bytes):
      guard receiver == nil else { return }
      let now = loop.nanoseconds
      guard ready <= now else { return close(.drain, "the relay cannot be timed") }
      begun(self, (ready > age ? ready - age : 0)...(now > age ? now - age : 0))
      deliver(bytes)
      deliverHeld()
    case .text(let bytes):
      // What is sent behind the first message may come before it.
      if receiver == nil || isPaused || !held.isEmpty { held.append(bytes) } else { deliver(bytes) }
    case .credit(let count): bufferedBytes -= min(count, bufferedBytes)
    case .close(let code, _): end(code)
    }
  }

  private func deliver(_ bytes: [UInt8]) {
    receiver?.receive(bytes.span.bytes, as: .text)
    owed += bytes.count
    guard owed > RelayPort.window / 8 else { return }
    send(.credit(owed))
    owed = 0
  }

  private func end(_ code: UInt16?) {
    isOver = true
    held = []
    ended()
    loop.execute { [self] in
      let receiver = receiver
      self.receiver = nil
      receiver?.closed(code)
    }
  }
}
