import WaySession
import WayStore

/// Looks up whose sessions are, and has the documents that all servers share. All work is done on a
/// thread of its own, in the order of the calls.
actor Lookups {
  private let queue = SQLiteWorkQueue("waybridge.lookups")
  private let connection: NATSConnection
  private let documents: KeyValueBucket
  private let place: String
  /// For whoever is told next that there is no such session.
  private var settling: Task<Void, any Error>?

  nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

  init(_ address: NATSAddress, replicas: Int) throws(NATSClusterError) {
    connection = try NATSConnection(address, patience: .seconds(2))
    place = connection.place
    documents = try KeyValueBucket(
      "waybridge-documents", description: "Documents of Waybridge, form 4", replicas: replicas,
      on: connection)
  }

  func owner(of session: String) async throws -> Ownership {
    let owner = try look(for: session)
    guard owner == .absent, connection.isReplicated else { return owner }
    try await settle()
    return try look(for: session)
  }

  /// Returns when what is looked up next is not older than what was acknowledged before; whoever wants
  /// that at once shares it.
  private func settle() async throws {
    let task =
      settling
      ?? Task {
        settling = nil
        try connection.settle(OwnedLogs.stream)
      }
    settling = task
    try await task.value
  }

  private func look(for session: String) throws(NATSClusterError) -> Ownership {
    guard
      let last = try connection.last(
        in: OwnedLogs.stream, of: Subject.of(session))
    else { return .absent }
    do throws(ByteFault) {
      let entry = try JetStreamSessionLogEntry(last.bytes)
      if entry.isEnd { return .absent }
      return entry.isRelease && entry.piece.contains(.last) ? .nobody : .server(entry.lease.owner)
    } catch {
      throw NATSClusterError(
        place, "the last message of the session \(session) cannot be read: \(error)",
        advice: NATSClusterError.advice(toRead: session)
      )
    }
  }

  /// What is kept of a session; nil for nothing.
  func log(of session: String) throws(NATSClusterError) -> SessionReading? {
    try connection.logs(of: Subject.of(session), keepsParts: true).first
  }

  func document(_ name: String) throws(NATSClusterError) -> (bytes: [UInt8], revision: UInt64)? {
    guard let entry = try documents.entry(of: name), !entry.message.isDeletion else { return nil }
    return (entry.message.bytes, entry.message.number)
  }

  func put(
    _ bytes: [UInt8], as name: String, after revision: UInt64
  ) throws(NATSClusterError) -> UInt64? {
    let entry = try documents.entry(of: name)
    let known = entry.map { $0.message.isDeletion ? 0 : $0.message.number } ?? 0
    guard known == revision else { return nil }
    return try documents.put(bytes, as: name, after: entry?.end ?? 0)
  }
}
