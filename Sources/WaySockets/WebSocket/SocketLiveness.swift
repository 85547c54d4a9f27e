import WayTransport

extension Limits {
  /// The interval of the checks for inactive peers, and so the maximum delay in noticing one.
  var livenessCheckInterval: Duration {
    max(min(ping / 4, silence / 4, .seconds(1)), .milliseconds(5))
  }
}

/// Tracks how long a peer has been inactive. It decides, and the connection acts.
struct SocketLiveness {
  enum LivenessAction: Hashable {
    case nothing
    case ping
    case expire
  }

  private var silence = Duration.zero
  private var isPinged = false

  /// Records that one more interval between checks has passed. It counts intervals instead of reading the clock:
  /// if the loop was blocked, data from the peer is read after this call.
  mutating func advance(by interval: Duration, _ limits: Limits, hasActivity: Bool)
    -> LivenessAction
  {
    if hasActivity {
      self = SocketLiveness()
      return .nothing
    }
    silence += interval
    if silence >= limits.silence { return .expire }
    guard silence >= limits.ping, !isPinged else { return .nothing }
    isPinged = true
    return .ping
  }
}

/// A server's connection on a loop that sends for a long time: a WebSocket connection, or a streamed
/// response.
protocol OutboundConnection: AnyObject, Sendable {
  /// Number of bytes of memory for unsent data; `nil` if the connection is closing.
  var openQueueSize: Int? { get }

  /// Closes a connection whose peer reads too slowly. Unsent data is dropped.
  func closeSlowConsumer(_ reason: String)

  /// Checks whether the peer is still there, after one more interval between checks.
  func checkLiveness(every interval: Duration, _ serverLimits: Limits)
}

extension SocketConnection: OutboundConnection {}
