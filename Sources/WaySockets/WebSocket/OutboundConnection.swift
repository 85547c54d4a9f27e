import WayTransport

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
