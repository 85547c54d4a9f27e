import WayRouting
import WayTransport
import WayValues

/// The end of a relay at the server that has the connection. It forwards messages of the connection
/// to the session's owner, and those of the owner to the connection. Confined to the connection's
/// loop.
final class RelayPort: MessageReceiver, @unchecked Sendable {
  /// Bytes that may be in transit to the other side.
  static let window = 256 << 10
  /// How long it waits before it checks again whether the connection has sent its messages.
  private static let creditRetryDelay: Duration = .milliseconds(20)

  let channel: any MessageChannel
  /// When the connection was accepted, in nanoseconds of the loops' clock.
  private let acceptTime: UInt64
  /// The first message of the connection, until the owner is ready for it.
  private var firstMessage: [UInt8]?
  private let send: @Sendable (RelayMessage.RelayContent) -> Void
  private let onEnd: @Sendable () -> Void
  /// Bytes that the owner has not processed.
  private var inFlightBytes = 0
  private var isPaused = false
  /// Bytes that came from the owner, and that it has received no credit for.
  private var pendingCredit = 0
  private var isRetryScheduled = false
  private var tokens: RelayedTokens
  /// The verification of the tokens in a message. No further message is received meanwhile.
  private var verification: Task<Void, Never>?
  private var rejectedTokens = 0
  /// Authenticates the client by another token; nil if clients are not authenticated.
  private let verify: (@Sendable (String) async -> Result<Identity, CallError>)?
  private var hasEnded = false

  /// Creates a port for a connection that was accepted at `began`. `onEnd` is called once, when the
  /// relay has ended. `firstMessage` has no tokens; those of later messages are verified by
  /// `verify`, and replaced by `tokens`.
  init(
    _ channel: any MessageChannel, since began: UInt64, firstMessage: [UInt8],
    tokens: RelayedTokens,
    verify: (@Sendable (String) async -> Result<Identity, CallError>)? = nil,
    send: @escaping @Sendable (RelayMessage.RelayContent) -> Void,
    onEnd: @escaping @Sendable () -> Void
  ) {
    self.channel = channel
    self.acceptTime = began
    self.firstMessage = firstMessage
    self.tokens = tokens
    self.verify = verify
    self.send = send
    self.onEnd = onEnd
  }

  func receive(_ message: RawSpan, as kind: MessageKind) {
    guard kind == .text else {
      return close(.unsupportedData, CloseCode.notText)
    }
    let bytes = message.withUnsafeBytes { [UInt8]($0) }
    guard RelayedTokens.mayContainTokens(message), let replaced = tokens.replace(in: bytes) else {
      return forward(bytes)
    }
    guard let verify, !replaced.credentials.isEmpty else { return forward(replaced.bytes) }
    channel.pause()
    verification = Task { [self, channel] in
      var identities: [RelayedIdentity] = []
      for credential in replaced.credentials {
        if Task.isCancelled { return }
        identities.append(
          RelayedIdentity(reference: credential.reference, await verify(credential.token)))
      }
      channel.loop.execute { [identities] in self.forward(replaced, identities) }
    }
  }

  private func forward(_ message: RelayedTokens.RelayedMessage, _ identities: [RelayedIdentity]) {
    guard !hasEnded else { return }
    verification = nil
    rejectedTokens += identities.count(where: \.isRejected) + message.excessCredentials
    guard rejectedTokens < SessionTokenRejections.maxPerConnection else {
      return close(.tooMany, "\(rejectedTokens) tokens were rejected")
    }
    for identity in identities { send(.identity(identity)) }
    forward(message.bytes)
    if !isPaused { channel.resume() }
  }

  private func forward(_ message: [UInt8]) {
    send(.text(message))
    inFlightBytes += message.count
    if inFlightBytes > Self.window, !isPaused {
      isPaused = true
      channel.pause()
    }
  }

  func closed(_ code: UInt16?) {
    guard !hasEnded else { return }
    end()
    send(.close(code, ""))
  }

  /// Receives a message of the owner. May be called from any thread.
  func receive(_ content: RelayMessage.RelayContent) {
    channel.loop.execute { [self] in handle(content) }
  }

  private func handle(_ content: RelayMessage.RelayContent) {
    guard !hasEnded else { return }
    switch content {
    case .open, .first, .identity: break
    case .ready(let time):
      guard let firstMessage else { return }
      self.firstMessage = nil
      inFlightBytes += firstMessage.count
      send(.first(ready: time, age: channel.loop.nanoseconds &- acceptTime, firstMessage))
    case .text(let bytes):
      channel.send(bytes.span.bytes, as: .text)
      pendingCredit += bytes.count
      sendCredit()
    case .admitted: channel.admit()
    case .credit(let count):
      inFlightBytes -= min(count, inFlightBytes)
      guard isPaused, inFlightBytes <= Self.window / 2 else { return }
      isPaused = false
      if verification == nil { channel.resume() }
    case .close(let code, let reason):
      end()
      channel.close(CloseCode(rawValue: code ?? CloseCode.drain.rawValue), reason)
    }
  }

  /// Sends credit to the owner for the bytes that the connection has processed.
  private func sendCredit() {
    guard pendingCredit > 0, !isRetryScheduled else { return }
    guard channel.bufferedBytes <= Self.window else {
      isRetryScheduled = true
      _ = channel.loop.schedule(after: Self.creditRetryDelay) { [weak self] in
        self?.isRetryScheduled = false
        self?.sendCredit()
      }
      return
    }
    // A small amount waits until there is more.
    guard pendingCredit > Self.window / 8 else { return }
    send(.credit(pendingCredit))
    pendingCredit = 0
  }

  private func close(_ code: CloseCode, _ reason: String) {
    guard !hasEnded else { return }
    end()
    send(.close(code.rawValue, reason))
    channel.close(code, reason)
  }

  private func end() {
    hasEnded = true
    verification?.cancel()
    verification = nil
    onEnd()
  }
}
