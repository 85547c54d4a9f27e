/// The limits of a connection.
struct ConnectionLimits: Sendable {
  /// Maximum number of bytes of one message.
  var maximumMessage: Int
  /// Maximum number of unsent bytes.
  var maximumBuffered: Int
  /// Number of unsent bytes at which reading stops, until a quarter of it is left.
  var highWater = Int.max
  /// Maximum time for a peer with this much unsent data to read nothing.
  var stallTimeout: Duration = .seconds(10)
  /// The shared budget of all connections of a server on one loop.
  var budget = SocketQueueBudget()
  /// Maximum time for a closing connection to send its data.
  var closeTimeout: Duration
}
