/// Whether a connection is read from.
struct ReadPause {
  /// Its receiver takes nothing now.
  var isPaused = false
  /// So much waits to be sent to the peer that it has to take some of it first.
  var isFull = false

  var isOpen: Bool { !isPaused && !isFull }
}
