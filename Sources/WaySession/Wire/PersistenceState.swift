import WayRPC

/// The part of a client's state that is stored. Belongs to its session's isolation.
struct PersistenceState {
  /// Whether the journal has recorded already that the client's state has changed.
  var isDirty = false
  /// The client's numbered messages that are not sent yet; nil if all are.
  var pending: PendingPersistence?
  /// The stored frames, by the numbers of their last messages; nil if there are none.
  var storedFrames: ClosedRange<UInt64>?
  /// The last message at a time, in nanoseconds of the loop's clock. Messages sent by then are
  /// stored if they are not acknowledged a while later.
  var outboxMark: (last: UInt64, at: UInt64) = (0, 0)
  /// The number of a change, and of the last message of the client that it contains.
  var lastReceived: (change: Int, number: UInt64) = (0, 0)
  /// Whether no connection has resumed the client since the server was started.
  var isRestored = false
  /// Whether the resume response reports the restart. Set until the client has sent a message.
  var reportsRestart = false
  /// The requests whose responses were lost with the earlier server, until it is known which of
  /// them the client has received.
  var unconfirmedResponses: [(id: RequestID, last: UInt64)] = []
  /// The number up to which it is unknown which of the client's messages were handled. An earlier
  /// server received some of them, possibly without storing that. The highest number until the
  /// client has reported how many messages it sent to that server.
  var uncertainThrough: UInt64 = 0
  /// Whether the message that is being handled may have been handled before.
  var isReplayUncertain = false
}
