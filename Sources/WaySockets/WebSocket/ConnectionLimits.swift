/// What a connection may take up.
struct ConnectionLimits: Sendable {
  /// Bytes of one message.
  var maximumMessage: Int
  /// Bytes that may wait to be sent.
  var maximumBuffered: Int
  /// What holds for all connections of a server together.
  var budget = QueueBudget()
  /// How long a closing connection may take to send what waits.
  var closeTimeout: Duration
}
