/// Decides when a client connects, waits and gives up. There is one connection at a time.
///
/// Pure: the caller reports events with their times, and the state returns the next step.
struct ReconnectState: Sendable {
  enum ReconnectPhase: Sendable, Equatable {
    /// Not begun.
    case idle
    /// A socket is being opened.
    case connecting
    /// The socket is open, and the server has not responded to `session.open` or `session.resume`.
    case opening
    case open
    /// Waiting before it reconnects.
    case waiting
    case ended
  }

  /// How a connection, or an attempt to connect, ended.
  enum ConnectionLoss: Sendable, Equatable {
    /// Closed with a close code; nil if there was none.
    case closed(UInt16?)
    /// No connection: the server did not respond or is not available now.
    case unreachable
    /// The server rejected the client.
    case rejected
  }

  enum ReconnectDecision: Sendable, Equatable {
    /// Nothing to do: the state has already ended.
    case nothing
    /// Connect again after this time.
    case wait(Duration)
    case end
  }

  /// The lifetime, in nanoseconds, after which a session counts as stable: its end is then the
  /// first failure in a row, not a further one.
  static let stableDuration: UInt64 = 5_000_000_000

  private(set) var phase = ReconnectPhase.idle
  /// The number of attempts since the last session.
  private(set) var attempts = 0
  private let limit: ReconnectLimit
  private let backoff: ReconnectBackoff
  private var isResumable = false
  private var isClosing = false
  /// The number of consecutive failures, including sessions that ended at once.
  private var failureCount = 0
  private var openedAt: UInt64 = 0
  private var lostAt: UInt64 = 0

  init(_ limit: ReconnectLimit, backoff: ReconnectBackoff = ReconnectBackoff()) {
    self.limit = limit
    self.backoff = backoff
  }

  /// Begins the first connection.
  mutating func begin() {
    if phase == .idle { phase = .connecting }
  }

  /// The socket is open; returns false if the connection is no longer wanted.
  mutating func socketOpened() -> Bool {
    guard phase == .connecting else { return false }
    phase = .opening
    return true
  }

  /// The server has accepted the session. `isResumable` states whether the client can resume after
  /// a lost connection.
  mutating func sessionOpened(isResumable: Bool, at now: UInt64) {
    guard phase == .opening else { return }
    self.isResumable = isResumable
    phase = .open
    attempts = 0
    openedAt = now
  }

  /// The delay is over; returns false if the state is not waiting.
  mutating func beginRetry() -> Bool {
    guard phase == .waiting else { return false }
    phase = .connecting
    attempts += 1
    return true
  }

  /// The app closes the client. Returns true if that is already the end. Returns false if an open
  /// connection has to close first, or if there is nothing to end.
  mutating func close() -> Bool {
    isClosing = true
    switch phase {
    case .opening, .open, .ended: return false
    case .idle, .connecting, .waiting:
      phase = .ended
      return true
    }
  }

  /// A connection, or an attempt to connect, ended. `jitter` is between 0 and 1. The server requests
  /// no attempt before `retryAfter`.
  mutating func connectionLost(
    _ loss: ConnectionLoss, at now: UInt64, jitter: Double, retryAfter: Duration = .zero
  ) -> ReconnectDecision {
    guard phase != .ended, phase != .idle else { return .nothing }
    if phase == .open {
      lostAt = now
      if now &- openedAt >= Self.stableDuration { failureCount = 0 }
    }
    guard var delay = retryDelay(after: loss, jitter) else { return end() }
    if retryAfter > .zero {
      // Clients that the server has rejected together do not return together.
      delay = max(delay, retryAfter + backoff.delay(after: 0, jitter: jitter))
    }
    guard isWithinLimit(now, delay) else { return end() }
    failureCount += 1
    phase = .waiting
    return .wait(delay)
  }

  private mutating func end() -> ReconnectDecision {
    phase = .ended
    return .end
  }

  /// The delay before the next attempt; nil for none.
  private func retryDelay(after loss: ConnectionLoss, _ jitter: Double) -> Duration? {
    guard isResumable, !isClosing, attempts < limit.attempts else { return nil }
    switch loss {
    case .rejected: return nil
    case .unreachable: break
    case .closed(let code):
      switch Self.retryTiming(of: code) {
      case .never: return nil
      case .afterDelay: break
      case .immediately: if failureCount == 0 { return .zero }
      }
    }
    return backoff.delay(after: failureCount, jitter: jitter)
  }

  private func isWithinLimit(_ now: UInt64, _ delay: Duration) -> Bool {
    guard let time = limit.time else { return true }
    return .nanoseconds(Int64(clamping: now &- lostAt)) + delay <= time
  }

  private enum RetryTiming {
    case never, afterDelay, immediately
  }

  /// The retry timing for a close code (`protocol/codes.json`). A connection that was lost has none:
  /// its server may have lost all others too, so the client waits.
  private static func retryTiming(of code: UInt16?) -> RetryTiming {
    guard let code else { return .afterDelay }
    return switch code {
    case 4200..<4300: .immediately
    case 1000, 1002, 1003, 1007, 1009, 4000..<4100: .never
    default: .afterDelay
    }
  }
}

/// The delay before each attempt to connect. It doubles with each attempt and has random jitter, so
/// that the clients of a server do not reconnect together.
struct ReconnectBackoff: Sendable {
  /// The full delay of the first attempt.
  var minDelay: Duration = .milliseconds(500)
  var maxDelay: Duration = .seconds(30)

  /// Returns half of the full delay to all of it. `failures` is the number of consecutive failures
  /// before the last one, and `jitter` is between 0 and 1.
  func delay(after failures: Int, jitter: Double) -> Duration {
    let full = min(maxDelay, minDelay * (1 << min(max(failures, 0), 30)))
    return full * (0.5 + min(max(jitter, 0), 1) / 2)
  }
}

/// The limits of the attempts to reconnect after the loss of a connection.
struct ReconnectLimit: Sendable {
  static let never = ReconnectLimit(attempts: 0)

  /// The number of consecutive attempts without a session in between.
  let attempts: Int
  /// The time after the loss; nil if it is unlimited.
  var time: Duration?
}
