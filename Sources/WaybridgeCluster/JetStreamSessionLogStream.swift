import WaySession
import WayValues

/// The stream in NATS that contains the logs of all sessions, one on the subject of each session.
/// Confined to one thread at a time; each call blocks.
final class JetStreamSessionLogStream {
  private static let description = "Sessions of Waybridge, form 4"
  /// How long NATS may take to respond. The leader of the stream does not respond to a change that it
  /// has received before its crash, and then the change must be written again. A change that is given
  /// up may arrive nevertheless.
  private static let timeout: Duration = .seconds(2)
  /// The maximum size of one message in bytes, if NATS accepts that much.
  private static let maxMessage = 512 << 10

  private let connection: NATSConnection
  private let names: NATSClusterNames
  /// When the stream was created.
  private var creation: Int64

  /// Connects to NATS, and creates the stream if there is none.
  init(_ configuration: NATSClusterConfiguration) throws(NATSClusterError) {
    connection = try NATSConnection(configuration, timeout: Self.timeout)
    names = configuration.names
    try connection.requireStream(
      NATSConnection.StreamDefinition(
        name: names.sessionStream, displayName: "the stream \(names.sessionStream)",
        description: Self.description, subject: names.allSessions,
        replicas: configuration.replicas, allowsRollups: true))
    creation = try connection.creationTime(of: names.sessionStream)
  }

  /// The address of NATS, without user and password.
  var endpoint: String { connection.endpoint }

  /// The maximum size of an entry in bytes.
  var maxEntry: Int {
    min(Self.maxMessage, connection.maxMessage - 1024) - JetStreamSessionLogCipher.overhead
  }

  /// Whether the stream is another one than before, because NATS has lost its disk.
  func isReplaced() throws(NATSClusterError) -> Bool {
    try connection.creationTime(of: names.sessionStream) != creation
  }

  /// Returns whether the stream was replaced, once for each time.
  func detectReplacement() throws(NATSClusterError) -> Bool {
    let previous = creation
    creation = try connection.creationTime(of: names.sessionStream)
    return creation != previous
  }

  /// Returns an entry of a session's log as it is written after a message.
  func publication(
    of entry: [UInt8], _ session: UTF8Key, after: UInt64, rollsUp: Bool = false
  ) throws(NATSClusterError) -> NATSConnection.Publication {
    let subject = subject(of: session)
    guard let bytes = connection.logCipher.seal(entry, on: subject, after: after) else {
      throw NATSClusterError(endpoint, "a change cannot be encrypted: memory is short")
    }
    return NATSConnection.Publication(
      subject: subject, bytes: bytes, previousSequence: after, rollsUp: rollsUp)
  }

  /// Returns the message that takes a session over with a lease.
  func publication(
    of lease: SessionLease, _ session: UTF8Key, after: UInt64
  ) throws(NATSClusterError) -> NATSConnection.Publication {
    try publication(
      of: JetStreamSessionLogEntry(lease: lease, fragment: []).bytes, session, after: after)
  }

  /// Writes messages; returns the result of each.
  func publish(
    _ publications: [NATSConnection.Publication]
  ) throws(NATSClusterError) -> [NATSConnection.PublishResult] {
    try connection.publish(publications)
  }

  /// Returns when all messages in transit have arrived.
  func synchronize() throws(NATSClusterError) { try connection.synchronize(names.sessionStream) }

  /// Whether a message is effective that was written after another. Messages in transit must have
  /// arrived (``synchronize()``).
  func isEffective(
    _ number: UInt64, after: UInt64, of session: UTF8Key
  ) throws(NATSClusterError) -> Bool {
    guard connection.isReplicated else { return true }
    return try isNext(number, after: after, of: session)
  }

  /// Whether a session's log has a message. Messages in transit must have arrived
  /// (``synchronize()``).
  func isStored(_ number: UInt64, of session: UTF8Key) throws(NATSClusterError) -> Bool {
    try isNext(number, after: number - 1, of: session)
  }

  private func isNext(
    _ number: UInt64, after: UInt64, of session: UTF8Key
  ) throws(NATSClusterError) -> Bool {
    try connection.isNext(number, after: after, of: subject(of: session), in: names.sessionStream)
  }

  /// Confirms a takeover if an ineffective message follows the one with its lease, which has a given
  /// number: lookups read the last message. Returns the number of the last message.
  func confirm(
    _ lease: SessionLease, of session: UTF8Key, writtenAs number: UInt64
  ) throws(NATSClusterError) -> UInt64 {
    guard connection.isReplicated, let last = try lastMessage(of: session)?.sequence,
      last != number
    else { return number }
    let confirmation = try publication(of: lease, session, after: last)
    guard case .stored(let number)? = try publish([confirmation]).first else { return last }
    return number
  }

  /// Returns the last message of a session's log, including all that was acknowledged; nil if there
  /// is none.
  func latestMessage(
    of session: UTF8Key
  ) throws(NATSClusterError) -> NATSConnection.StreamMessage? {
    try synchronize()
    return try lastMessage(of: session)
  }

  private func lastMessage(
    of session: UTF8Key
  ) throws(NATSClusterError) -> NATSConnection.StreamMessage? {
    try connection.lastMessage(in: names.sessionStream, of: subject(of: session))
  }

  /// Returns the entry in a message of a log. Throws if no server of the cluster has written it there.
  func entry(
    in message: NATSConnection.StreamMessage
  ) throws(ByteDecodingError) -> JetStreamSessionLogEntry {
    try connection.logCipher.open(message)
  }

  /// Deletes the messages of a session's log up to a number.
  func deleteMessages(of session: UTF8Key, through number: UInt64) throws(NATSClusterError) {
    try connection.delete(names.sessionStream, subject(of: session), through: number)
  }

  private func subject(of session: UTF8Key) -> String { names.sessionSubject(of: session.text) }
}
