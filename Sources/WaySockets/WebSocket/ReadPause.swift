/// The reasons to stop reading from a connection.
struct ReadPause {
  /// The receiver has paused the connection.
  var isPaused = false
  /// The peer must first read the data that is queued for it.
  var isCongested = false

  var allowsReading: Bool { !isPaused && !isCongested }
}
