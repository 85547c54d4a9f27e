import WaySession
import WayStore
import WayValues

/// Reads what is kept of all sessions on a thread and a connection of its own, which is there only
/// meanwhile: what is written does not wait for it.
actor SessionReader {
  /// So many logs at most are read one by one; for more the whole stream is read.
  private static let few = 32

  private let queue = SQLiteWorkQueue("waybridge.reading")
  private let address: NATSAddress

  nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

  init(_ address: NATSAddress) { self.address = address }

  /// What is known of all sessions but their parts, in the order in which they began.
  func survey() throws(NATSClusterError) -> [SessionReading] {
    try NATSConnection(address).logs(of: Subject.all, keepsParts: false)
  }

  /// Some sessions with their parts, in the order in which they began. Those that are gone meanwhile
  /// are not among them.
  func read(_ sessions: [UTF8Key]) throws(NATSClusterError) -> [SessionReading] {
    let connection = try NATSConnection(address)
    guard sessions.count > Self.few else {
      var readings: [SessionReading] = []
      for session in sessions {
        readings += try connection.logs(of: Subject.of(session.text), keepsParts: true)
      }
      return readings
    }
    let wanted = Set(sessions)
    return try connection.logs(of: Subject.all, keepsParts: true) { wanted.contains($0) }
  }
}

extension NATSConnection {
  /// What the logs say of the sessions of some subjects, of those that are wanted, in the order in
  /// which they began. Blocks meanwhile.
  func logs(
    of subjects: String, keepsParts: Bool, where isWanted: (UTF8Key) -> Bool = { _ in true }
  ) throws(NATSClusterError) -> [SessionReading] {
    var readings: [SessionReading] = []
    var places: [UTF8Key: Int] = [:]
    try messages(in: OwnedLogs.stream, of: subjects) { message in
      // A subject that is none of a session is as good a name for what is found there.
      let id = UTF8Key(Subject.session(message.subject) ?? message.subject)
      guard isWanted(id) else { return }
      let place = places[id] ?? readings.count
      if place == readings.count {
        places[id] = place
        readings.append(SessionReading(of: id, keepsParts: keepsParts))
      }
      readings[place].add(message.bytes, message.number, after: message.after)
    }
    return readings
  }
}
