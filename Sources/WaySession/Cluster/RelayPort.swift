import WayTransport

/// The end of a relay at the server that has the connection: what comes goes to the session's owner,
/// and what that sends goes out. Confined to the connection's loop.
final class RelayPort: MessageReceiver, @unchecked Sendable {
  /// Bytes that may be on their way to the other side.
  static let window = 256 << 10
  /// After so long it is looked again whether the connection has taken what it was sent.
  private static let patience: Duration = .milliseconds(20)

  let channel: any MessageChannel
  /// When the connection came, in nanoseconds of the loops' clock.
  private let began: UInt64
  /// What came on it first, until the owner is ready for it.
  private var first: [UInt8]?
  private let send: @Sendable (RelayMessage.Content) -> Void
  private let ended: @Sendable () -> Void
  /// Bytes that the owner has not taken.
  private var underWay = 0
  private var isPaused = false
  /// Bytes that came from the owner, and that it is not told of.
  private var owed = 0
  private var isWaiting = false
  private var isOver = false

  /// `ended` is told once, when nothing passes any more.
  init(
    _ channel: any MessageChannel, since began: UInt64, first: [UInt8],
    send: @escaping @Sendable (RelayMessage.Content) -> Void,
    ended: @escaping @Sendable () -> Void
  ) {
    self.channel = channel
    self.began = began
    self.first = first
    self.send = send
    self.ended = ended
  }

  func receive(_ message: RawSpan, as kind: MessageKind) {
    guard kind == .text else {
      return close(.unsupportedData, "Binary messages are not taken: send JSON-RPC as text")
    }
    send(.text(message.withUnsafeBytes { [UInt8]($0) }))
    underWay += message.byteCount
    if underWay > Self.window, !isPaused {
      isPaused = true
      channel.pause()
    }
  }

  func closed(_ code: UInt16?) {
    guard !isOver else { return }
    end()
    send(.close(code, ""))
  }

  /// Something has come from the owner. May be called from any thread.
  func take(_ content: RelayMessage.Content) {
    channel.loop.execute { [self] in carryOut(content) }
  }

  private func carryOut(_ content: RelayMessage.Content) {
    guard !isOver else { return }
    switch content {
    case .open, .first: break
    case .ready(let time):
      guard let first else { return }
      self.first = nil
      underWay += first.count
      send(.first(ready: time, age: channel.loop.nanoseconds &- began, first))
    case .text(let bytes):
      channel.send(bytes.span.bytes, as: .text)
      owed += bytes.count
      pay()
    case .credit(let count):
      underWay -= min(count, underWay)
      guard isPaused, underWay <= Self.window / 2 else { return }
      isPaused = false
      channel.resume()
    case .close(let code, let reason):
      end()
      channel.close(CloseCode(rawValue: code ?? CloseCode.drain.rawValue), reason)
    }
  }

  /// Tells the owner what the connection has taken.
  private func pay() {
    guard owed > 0, !isWaiting else { return }
    guard channel.bufferedBytes <= Self.window else {
      isWaiting = true
      _ = channel.loop.schedule(after: Self.patience) { [weak self] in
        self?.isWaiting = false
        self?.pay()
      }
      return
    }
    // Little is told together with more.
    guard owed > Self.window / 8 else { return }
    send(.credit(owed))
    owed = 0
  }

  private func close(_ code: CloseCode, _ reason: String) {
    guard !isOver else { return }
    end()
    send(.close(code.rawValue, reason))
    channel.close(code, reason)
  }

  private func end() {
    isOver = true
    ended()
  }
}
