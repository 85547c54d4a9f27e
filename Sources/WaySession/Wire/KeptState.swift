import WayRPC

/// What the store has of a client. Belongs to its session's isolation.
struct PersistenceState {
  /// Whether the journal knows already that the client's state has changed.
  var isNoted = false
  /// Its numbered messages that are not sent yet; nil where all are.
  var held: PendingPersistence?
  /// The frames that the store has, by the numbers of their last messages; nil for none.
  var frames: ClosedRange<UInt64>?
  /// The last message at a moment, in the loop's nanoseconds: what was sent by then and is not
  /// acknowledged a while later, the store is to have.
  var seen: (last: UInt64, at: UInt64) = (0, 0)
  /// The last message of the client that the change of this number holds.
  var received: (change: Int, number: UInt64) = (0, 0)
  /// Whether no connection has gone on with it since the server was started.
  var isRestarted = false
  /// Whether it is told of the restart when it goes on: until it has sent something.
  var isToldOfRestart = false
  /// The requests that were answered in messages that went missing with the server, until it is known
  /// which of these have come.
  var answered: [(id: RequestID, last: UInt64)] = []
  /// Up to this number it is not known what was carried out of what the client sends: a server has
  /// ended that had taken some of it, and the store may not have heard of that. The highest number
  /// until the client has said how much it had sent by then.
  var doubtful: UInt64 = 0
  /// Whether what is taken now is doubtful.
  var isDoubtful = false
}
