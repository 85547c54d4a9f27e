/// Detects whether the server is still there. If no message arrives for a while, it requests a
/// ping; without a response to the ping, the connection counts as lost.
///
/// Pure; times are nanoseconds of one clock.
struct ClientConnectionLiveness: Sendable {
  enum LivenessDecision: Sendable, Equatable {
    /// Check again after this many nanoseconds.
    case wait(UInt64)
    /// Send a ping, and check again after this many nanoseconds.
    case ping(UInt64)
    case lost
  }

  /// The longest wait for a response to a probe: 5 s.
  private static let probeTimeout: UInt64 = 5_000_000_000

  private let pingInterval: UInt64
  private let pingTimeout: UInt64
  private var lastReceived: UInt64
  private var isPinged = false
  /// Whether a probe was requested since the last message.
  private var isProbing = false

  init(_ timing: PingTiming, at now: UInt64) {
    pingInterval = timing.interval
    pingTimeout = timing.timeout
    lastReceived = now
  }

  /// Records a received message.
  mutating func recordMessage(at now: UInt64) {
    lastReceived = now
    isPinged = false
    isProbing = false
  }

  /// Requests a probe: the next check sends a ping.
  mutating func probe(at now: UInt64) {
    lastReceived = now &- pingInterval
    isPinged = false
    isProbing = true
  }

  mutating func check(at now: UInt64) -> LivenessDecision {
    let silentTime = now &- lastReceived
    let timeout = isProbing ? min(pingTimeout, Self.probeTimeout) : pingTimeout
    if isPinged, silentTime >= pingInterval + timeout { return .lost }
    guard silentTime >= pingInterval else { return .wait(pingInterval - silentTime) }
    // A clock that has jumped, for example because the machine slept, is no evidence of a missing
    // response.
    if !isPinged {
      isPinged = true
      lastReceived = now &- pingInterval
      return .ping(timeout)
    }
    return .wait(pingInterval + timeout - silentTime)
  }
}

/// How long a server may be silent, in nanoseconds.
struct PingTiming: Sendable, Equatable {
  /// The silence after which the client pings.
  let interval: UInt64
  /// The further silence after which the connection counts as lost.
  let timeout: UInt64

  /// Converts milliseconds, each clamped to one second up to one hour.
  init(interval: Int64 = 20_000, timeout: Int64 = 15_000) {
    self.interval = Self.nanoseconds(interval)
    self.timeout = Self.nanoseconds(timeout)
  }

  private static func nanoseconds(_ milliseconds: Int64) -> UInt64 {
    UInt64(min(max(milliseconds, 1000), 3_600_000)) * 1_000_000
  }
}
