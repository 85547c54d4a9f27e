/// What a connection may take up.
struct ConnectionLimits: Sendable {
  /// Bytes of one message.
  var maximumMessage: Int
  /// Bytes that may wait to be sent.
  var maximumBuffered: Int
  /// Bytes that wait to be sent before nothing more is read, until a quarter of it waits.
  var highWater = Int.max
  /// How long the peer may take nothing of so much.
  var stallTimeout: Duration = .seconds(10)
  /// What holds for all connections of a server together.
  var budget = SocketQueueBudget()
  /// How long a closing connection may take to send what waits.
  var closeTimeout: Duration
}
