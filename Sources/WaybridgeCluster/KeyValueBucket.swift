/// Keys in the engine that are written by compare-and-set: a bucket of NATS (ADR-8), so that tools for
/// those read it. Confined as its connection is.
///
/// A stream with replicas may keep several messages that come after the same one
/// (``NATSConnection/publish(_:)``). One counts that directly follows the message that it says to come
/// after; whoever writes the next one knows of those that do not.
struct KeyValueBucket {
  /// What a key has.
  struct Entry {
    /// The message that says it.
    let message: NATSConnection.Kept
    /// The number of the key's last message, which the next has to come after.
    let end: UInt64
  }

  /// How many messages of a key are kept: some more than the last, to see which of them count.
  private static let history = 8

  private let connection: NATSConnection
  private let name: String
  /// Name of the stream that the keys are in.
  private let stream: String

  /// Makes the bucket where there is none; `description` tells those of Waybridge from others. Keys go
  /// a `lifetime` after they were written; never for zero.
  init(
    _ name: String, description: String, replicas: Int, lifetime: Duration = .zero,
    on connection: NATSConnection
  ) throws(NATSClusterError) {
    (self.connection, self.name, stream) = (connection, name, "KV_" + name)
    try connection.need(
      NATSConnection.Stream(
        name: stream, what: "the bucket \(name)", description: description,
        subject: "$KV.\(name).>", replicas: replicas, history: Self.history, lifetime: lifetime))
  }

  /// The subject of a key, which has letters, digits, `-`, `_`, `=` and `.`.
  private func subject(of key: String) -> String { "$KV.\(name).\(key)" }

  /// What a key has, be it that it was taken away; nil where there is nothing of it.
  func entry(of key: String) throws(NATSClusterError) -> Entry? {
    let subject = subject(of: key)
    guard let last = try connection.last(in: stream, of: subject) else { return nil }
    guard connection.isReplicated, let after = last.after,
      try !isLast(last.number, after: after, of: subject)
    else { return Entry(message: last, end: last.number) }
    return try walk(subject)
  }

  /// The same, by all that is kept of the key. What was before the first of these is not known.
  private func walk(_ subject: String) throws(NATSClusterError) -> Entry? {
    var found: NATSConnection.Kept?
    var end: UInt64 = 0
    while let number = try connection.number(in: stream, of: subject, from: end + 1) {
      let message = try connection.message(number, in: stream)
      let after = message?.after ?? end
      guard let message, found == nil || after <= end else {
        throw NATSClusterError(
          connection.place, "the key \(subject) changes faster than it can be read")
      }
      if found == nil || after == end { found = message }
      end = number
    }
    return found.map { Entry(message: $0, end: end) }
  }

  /// Writes a key after the message of a number, or takes it away; gives the number of what it has then.
  /// Nil where another came after that message first. Of several, one at most is given a number: none
  /// where another came after the first before that was looked at, though the first is what the key has.
  func put(
    _ bytes: [UInt8], as key: String, after: UInt64, isDeletion: Bool = false
  ) throws(NATSClusterError) -> UInt64? {
    let publication = NATSConnection.Publication(
      subject: subject(of: key), bytes: bytes, after: after, isDeletion: isDeletion)
    guard case .kept(let number)? = try connection.publish([publication]).first else {
      return nil
    }
    guard connection.isReplicated else { return number }
    try settle()
    return try isLast(number, after: after, of: publication.subject) ? number : nil
  }

  /// Returns when what is read next is not older than what was acknowledged before.
  func settle() throws(NATSClusterError) { try connection.settle(stream) }

  /// Whether a message is the last of its subject, and the next after another.
  private func isLast(
    _ number: UInt64, after: UInt64, of subject: String
  ) throws(NATSClusterError) -> Bool {
    // In this order: while it is the last one, what was before it has not gone to make room.
    guard try connection.isNext(number, after: after, of: subject, in: stream) else { return false }
    return try connection.last(in: stream, of: subject)?.number == number
  }
}
