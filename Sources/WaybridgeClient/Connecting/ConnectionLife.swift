/// When a client connects, waits and gives up: the life of its connections, of which there is one
/// at a time.
///
/// Pure: it is told what happened and when, and says what is next.
struct ReconnectState: Sendable {
  enum State: Sendable, Equatable {
    /// Nothing was asked of it yet.
    case idle
    /// A socket is on its way.
    case connecting
    /// It is there, and the server has not answered the hello.
    case greeting
    case open
    /// Before it connects again.
    case waiting
    case ended
  }

  /// How a connection, or a try to get one, has ended.
  enum Loss: Sendable, Equatable {
    /// By its close code; nil where there was none.
    case closed(UInt16?)
    /// There was none: nobody answered, or not now.
    case unreachable
    /// The server does not let the client in.
    case refused
  }

  enum Next: Sendable, Equatable {
    /// Nothing: it has ended before.
    case nothing
    /// Connect again after this time.
    case wait(Duration)
    case end
  }

  /// So long a session has to live for its end to count as the first trouble, and not as one more.
  static let steady: UInt64 = 5_000_000_000

  private(set) var state = State.idle
  /// How many tries there were since there was a session.
  private(set) var attempts = 0
  private let reconnection: BridgeClient.Reconnection
  private let backoff: Backoff
  private var isResumable = false
  private var isClosing = false
  /// Troubles in a row: a session that ends at once is one too.
  private var troubles = 0
  private var openSince: UInt64 = 0
  private var lostAt: UInt64 = 0

  init(_ reconnection: BridgeClient.Reconnection, backoff: Backoff = Backoff()) {
    self.reconnection = reconnection
    self.backoff = backoff
  }

  /// The first connection is begun.
  mutating func begin() {
    if state == .idle { state = .connecting }
  }

  /// A socket is there; false where nobody wants it any more.
  mutating func connected() -> Bool {
    guard state == .connecting else { return false }
    state = .greeting
    return true
  }

  /// The server has answered the hello. `isResumable` tells whether the client can go on after a
  /// lost connection.
  mutating func opened(isResumable: Bool, at now: UInt64) {
    guard state == .greeting else { return }
    self.isResumable = isResumable
    state = .open
    attempts = 0
    openSince = now
  }

  /// The time to wait is over: false where nobody waits.
  mutating func due() -> Bool {
    guard state == .waiting else { return false }
    state = .connecting
    attempts += 1
    return true
  }

  /// The app wants no connection any more. True where that is the end already, false where there is
  /// one that has to close first, or nothing to end.
  mutating func close() -> Bool {
    isClosing = true
    switch state {
    case .greeting, .open, .ended: return false
    case .idle, .connecting, .waiting:
      state = .ended
      return true
    }
  }

  /// A connection, or a try to get one, has ended. `jitter` is anything from 0 to 1.
  mutating func lost(_ loss: Loss, at now: UInt64, jitter: Double) -> Next {
    guard state != .ended, state != .idle else { return .nothing }
    if state == .open {
      lostAt = now
      if now &- openSince >= Self.steady { troubles = 0 }
    }
    guard let delay = delay(after: loss, jitter), isInTime(now, delay) else {
      state = .ended
      return .end
    }
    troubles += 1
    state = .waiting
    return .wait(delay)
  }

  /// nil for never.
  private func delay(after loss: Loss, _ jitter: Double) -> Duration? {
    guard isResumable, !isClosing, case .automatic(let most, _) = reconnection, attempts < most
    else { return nil }
    switch loss {
    case .refused: return nil
    case .unreachable: break
    case .closed(let code):
      switch Self.sequel(of: code) {
      case .none: return nil
      case .later: break
      case .atOnce: if troubles == 0 { return .zero }
      }
    }
    return backoff.delay(after: troubles, jitter: jitter)
  }

  private func isInTime(_ now: UInt64, _ delay: Duration) -> Bool {
    guard case .automatic(_, let time?) = reconnection else { return true }
    return .nanoseconds(Int64(clamping: now &- lostAt)) + delay <= time
  }

  private enum Sequel {
    case none, later, atOnce
  }

  /// What follows a close code (`protocol/codes.json`); a connection that was just lost is tried
  /// again at once.
  private static func sequel(of code: UInt16?) -> Sequel {
    guard let code else { return .atOnce }
    return switch code {
    case 1006, 4200..<4300: .atOnce
    case 1000, 1002, 1003, 1007, 1009, 4000..<4100: .none
    default: .later
    }
  }
}
