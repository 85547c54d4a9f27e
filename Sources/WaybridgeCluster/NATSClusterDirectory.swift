import WaySession
import WayStore

/// Looks up the owners of sessions, and reads and writes the documents that all servers share. All
/// work runs on a thread of its own, in the order of the calls.
actor NATSClusterDirectory {
  private let queue = SQLiteWorkQueue("waybridge.lookups")
  private let connection: NATSConnection
  private let documents: KeyValueBucket
  private let endpoint: String
  /// The synchronization that the next lookups share, if they find no such session.
  private var synchronization: Task<Void, any Error>?

  nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

  init(_ configuration: NATSClusterConfiguration) throws(NATSClusterError) {
    connection = try NATSConnection(configuration, timeout: .seconds(2))
    endpoint = connection.endpoint
    documents = try KeyValueBucket(
      connection.names.documentBucket, description: "Documents of Waybridge, form 4",
      replicas: configuration.replicas, on: connection)
  }

  func owner(of session: String) async throws -> Ownership {
    let owner = try ownership(for: session)
    guard owner == .notFound, connection.isReplicated else { return owner }
    try await synchronize()
    return try ownership(for: session)
  }

  /// Returns when a following lookup is not older than what was acknowledged before. Concurrent
  /// callers share one synchronization.
  private func synchronize() async throws {
    let task =
      synchronization
      ?? Task {
        synchronization = nil
        try connection.synchronize(connection.names.sessionStream)
      }
    synchronization = task
    try await task.value
  }

  private func ownership(for session: String) throws(NATSClusterError) -> Ownership {
    guard
      let last = try connection.lastMessage(
        in: connection.names.sessionStream, of: connection.names.sessionSubject(of: session))
    else { return .notFound }
    do throws(ByteDecodingError) {
      let entry = try connection.logCipher.open(last)
      if entry.isEnd { return .notFound }
      return entry.isRelease && entry.fragment.contains(.last)
        ? .unowned : .server(entry.lease.owner)
    } catch {
      throw NATSClusterError(
        endpoint, "the last message of the session \(session) cannot be read: \(error)",
        advice: NATSClusterError.advice(toRead: session, connection.names)
      )
    }
  }

  /// Reads the log of a session; nil if there is none.
  func log(of session: String) throws(NATSClusterError) -> JetStreamSessionLogState? {
    try connection.sessionLogs(
      of: connection.names.sessionSubject(of: session), includesParts: true
    ).first
  }

  func document(_ name: String) throws(NATSClusterError) -> (bytes: [UInt8], revision: UInt64)? {
    guard let entry = try documents.entry(of: name), !entry.message.isDeletion else { return nil }
    return (entry.message.bytes, entry.message.sequence)
  }

  func put(
    _ bytes: [UInt8], as name: String, after revision: UInt64
  ) throws(NATSClusterError) -> UInt64? {
    let entry = try documents.entry(of: name)
    let currentRevision = entry.map { $0.message.isDeletion ? 0 : $0.message.sequence } ?? 0
    guard currentRevision == revision else { return nil }
    return try documents.put(bytes, as: name, after: entry?.lastSequence ?? 0)
  }
}
