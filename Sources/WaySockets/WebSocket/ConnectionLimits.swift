/// The limits of a connection.
package struct ConnectionLimits: Sendable {
  /// Maximum number of bytes of one message.
  var maximumMessage = 1 << 20
  /// The same until the channel is admitted; `nil` if it is admitted from the start.
  var maximumMessageBeforeAdmission: Int?
  /// Maximum number of bytes of memory for unsent data. Beyond it the connection is closed with
  /// 4201.
  var maximumBuffered = 8 << 20
  /// Number of unsent bytes at which reading stops, until a quarter of it is left.
  package var highWater = 256 << 10
  /// A peer with this much unsent data that reads nothing for this time is closed with 4201.
  package var stallTimeout = Duration.seconds(10)
  /// The budget of unsent data.
  var outbound = SocketMemoryBudget()
  /// The budget of received data that waits for the rest of its message, or for its turn.
  var inbound = SocketMemoryBudget()
  /// Maximum time for a closing connection to send its data.
  package var closeTimeout = Duration.seconds(5)
}
