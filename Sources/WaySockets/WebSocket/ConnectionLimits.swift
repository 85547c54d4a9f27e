/// The limits of a connection.
struct ConnectionLimits: Sendable {
  /// Maximum number of bytes of one message.
  var maximumMessage: Int
  /// The same until the channel is admitted; `nil` if it is admitted from the start.
  var maximumMessageBeforeAdmission: Int?
  /// Maximum number of unsent bytes.
  var maximumBuffered: Int
  /// Number of unsent bytes at which reading stops, until a quarter of it is left.
  var highWater = Int.max
  /// Maximum time for a peer with this much unsent data to read nothing.
  var stallTimeout: Duration = .seconds(10)
  /// The budget of unsent data.
  var outbound = SocketMemoryBudget()
  /// The budget of received data that waits for the rest of its message, or for its turn.
  var inbound = SocketMemoryBudget()
  /// Maximum time for a closing connection to send its data.
  var closeTimeout: Duration
}
