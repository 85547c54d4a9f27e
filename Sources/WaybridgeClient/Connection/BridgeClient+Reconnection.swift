extension BridgeClient {
  /// The behavior of a client when its connection is lost.
  ///
  /// The client resumes its session over another connection while the server keeps the session (120
  /// s by default). Its pages, hosts and subscriptions stay. Calls run once, are answered once and
  /// stay in order; calls made meanwhile wait. If the session no longer exists, a new one is
  /// opened, and ``BridgeClient/connectionStates()`` reports what was lost.
  ///
  /// The client does not reconnect if the server closes the connection for good, with 1000, 40xx
  /// and a few others (PROTOCOL.md, Close codes). It also does not reconnect to a server that
  /// cannot resume.
  public enum Reconnection: Sendable, Hashable {
    /// The client ends as soon as the connection is lost; the server keeps nothing for it.
    case never
    /// The client reconnects automatically: at once if the server requests it (42xx), otherwise after
    /// a random time from a quarter to half a second. Each further attempt waits twice as long, up to
    /// half a minute, and at least as long as the server requests (`data.retryAfterMs`, at most one
    /// hour).
    ///
    /// - Parameters:
    ///   - attempts: the number of consecutive attempts without a session in between; 0 never
    ///     reconnects.
    ///   - within: the time after the loss of the connection; nil is unlimited.
    case automatic(attempts: Int = .max, within: Duration? = nil)

    var limit: ReconnectLimit {
      switch self {
      case .never: .never
      case .automatic(let attempts, let time): ReconnectLimit(attempts: attempts, time: time)
      }
    }
  }
}
