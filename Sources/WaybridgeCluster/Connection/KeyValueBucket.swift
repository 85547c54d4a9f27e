/// Keys in NATS that are written by compare-and-set. It is a bucket of NATS (ADR-8), so that
/// tools for buckets can read it. Confined like its connection.
///
/// A stream with replicas may store several messages that were written after the same one
/// (``NATSConnection/publish(_:)``). A message is effective if it directly follows the message that
/// it was written after. The writer of the next message knows of those that are not.
struct KeyValueBucket {
  /// The entry of a key.
  struct BucketEntry {
    /// The message with the key's value.
    let message: NATSConnection.StreamMessage
    /// The sequence number of the key's last message, which the next one must be written after.
    let lastSequence: UInt64
  }

  /// How many messages of a key are kept: several, to find out which of them are effective.
  private static let history = 8

  private let connection: NATSConnection
  private let name: String
  /// The name of the stream that contains the keys.
  private let stream: String

  /// Creates the bucket if there is none; `description` distinguishes those of Waybridge from
  /// others. Keys are deleted a `lifetime` after they were written; never if it is zero.
  init(
    _ name: String, description: String, replicas: Int, lifetime: Duration = .zero,
    on connection: NATSConnection
  ) throws(NATSClusterError) {
    (self.connection, self.name, stream) = (connection, name, "KV_" + name)
    try connection.requireStream(
      NATSConnection.StreamDefinition(
        name: stream, displayName: "the bucket \(name)", description: description,
        subject: "$KV.\(name).>", replicas: replicas, history: Self.history, lifetime: lifetime))
  }

  /// The subject of a key, which has letters, digits, `-`, `_`, `=` and `.`.
  func subject(of key: String) -> String { "$KV.\(name).\(key)" }

  /// Returns the entry of a key, which may be a deletion; nil if there is none.
  func entry(of key: String) throws(NATSClusterError) -> BucketEntry? {
    let subject = subject(of: key)
    guard let last = try connection.lastMessage(in: stream, of: subject) else { return nil }
    guard connection.isReplicated, let after = last.previousSequence,
      try !isLast(last.sequence, after: after, of: subject)
    else { return BucketEntry(message: last, lastSequence: last.sequence) }
    return try scan(subject)
  }

  /// Returns the number and the value of the last message of each key that was not deleted. A
  /// nats-server that is behind the others may return an earlier state.
  func currentValues() throws(NATSClusterError) -> [(revision: UInt64, bytes: [UInt8])] {
    try currentMessages().map { ($0.sequence, $0.bytes) }
  }

  /// Returns the last message of each key that was not deleted, as ``currentValues()``.
  func currentMessages() throws(NATSClusterError) -> [NATSConnection.StreamMessage] {
    // A key that is written meanwhile may come twice.
    var last: [String: NATSConnection.StreamMessage] = [:]
    try connection.forEachMessage(in: stream, of: subject(of: ">"), onlyLast: true) {
      last[$0.subject] = $0
    }
    return last.values.filter { !$0.isDeletion }
  }

  /// Returns the same from all kept messages of the key. Messages before the first of these are not
  /// known.
  private func scan(_ subject: String) throws(NATSClusterError) -> BucketEntry? {
    var found: NATSConnection.StreamMessage?
    var end: UInt64 = 0
    while let sequence = try connection.nextSequence(in: stream, of: subject, from: end + 1) {
      let message = try connection.message(sequence, in: stream)
      let after = message?.previousSequence ?? end
      guard let message, found == nil || after <= end else {
        throw NATSClusterError(
          connection.endpoint, "the key \(subject) changes faster than it can be read")
      }
      if found == nil || after == end { found = message }
      end = sequence
    }
    return found.map { BucketEntry(message: $0, lastSequence: end) }
  }

  /// Writes a key after a given message, or deletes it; returns the number of the new message.
  /// Returns nil if another message came after the given one first. Of several concurrent writers,
  /// at most one receives a number. None does if another message arrives before the first is
  /// checked, although the first is effective.
  func put(
    _ bytes: [UInt8], as key: String, after: UInt64, isDeletion: Bool = false
  ) throws(NATSClusterError) -> UInt64? {
    let publication = NATSConnection.Publication(
      subject: subject(of: key), bytes: bytes, previousSequence: after, isDeletion: isDeletion)
    guard case .stored(let number)? = try connection.publish([publication]).first else {
      return nil
    }
    guard connection.isReplicated else { return number }
    try synchronize()
    return try isLast(number, after: after, of: publication.subject) ? number : nil
  }

  /// Deletes a key after a given message, with all its messages. Returns false if another message
  /// came after the given one first.
  func remove(_ key: String, after: UInt64) throws(NATSClusterError) -> Bool {
    guard let last = try put([], as: key, after: after, isDeletion: true) else { return false }
    try connection.delete(stream, subject(of: key), through: last)
    return true
  }

  /// Returns when a following read is not older than what was acknowledged before.
  func synchronize() throws(NATSClusterError) { try connection.synchronize(stream) }

  /// Whether a message is the last of its subject, and the next after another.
  private func isLast(
    _ number: UInt64, after: UInt64, of subject: String
  ) throws(NATSClusterError) -> Bool {
    // In this order: while it is the last message, those before it are not removed to make room.
    guard try connection.isNext(number, after: after, of: subject, in: stream) else { return false }
    return try connection.lastMessage(in: stream, of: subject)?.sequence == number
  }
}
