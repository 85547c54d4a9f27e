import WaySession
import WayValues

/// Messages of session logs that are sent together, each of another session: the number of a message
/// is known once it is stored, and the next message of its session needs that number.
struct JetStreamSessionLogBatch {
  struct BatchMessage {
    let session: UTF8Key
    /// Whether it begins a change.
    let begins: Bool
    let publication: NATSConnection.Publication
  }

  private(set) var messages: [BatchMessage] = []
  private var sessions: Set<UTF8Key> = []
  /// The sessions that end with it.
  private(set) var ended: Set<UTF8Key> = []
  /// The sessions that are released with it.
  private(set) var released: Set<UTF8Key> = []

  /// Whether it has a message of a session, so that it must be sent before the next one.
  func contains(_ session: UTF8Key) -> Bool { sessions.contains(session) }

  mutating func add(
    _ session: UTF8Key, begins: Bool, _ publication: NATSConnection.Publication
  ) {
    messages.append(BatchMessage(session: session, begins: begins, publication: publication))
    sessions.insert(session)
  }

  /// Records that the batch has the last message of a change.
  mutating func complete(_ change: SessionChange) {
    if change.isEnd { ended.insert(UTF8Key(change.session)) }
    if change.isRelease { released.insert(UTF8Key(change.session)) }
  }
}
