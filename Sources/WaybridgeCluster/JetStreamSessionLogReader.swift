import WaySession
import WayStore
import WayValues

/// Reads the logs of all sessions on a thread and a connection of its own, which only exists
/// meanwhile. Writes do not wait for it.
actor JetStreamSessionLogReader {
  /// The maximum number of logs to read one by one; for more, the whole stream is read.
  private static let maxSingleReads = 32

  private let queue = SQLiteWorkQueue("waybridge.reading")
  private let configuration: NATSClusterConfiguration

  nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

  init(_ configuration: NATSClusterConfiguration) { self.configuration = configuration }

  /// Reads the state of all sessions without their parts, in the order in which they began.
  func readSummaries() throws(NATSClusterError) -> [JetStreamSessionLogState] {
    try NATSConnection(configuration).sessionLogs(
      of: configuration.names.allSessions, includesParts: false)
  }

  /// Reads some sessions with their parts, in the order in which they began. Sessions that have
  /// been deleted meanwhile are left out.
  func read(_ sessions: [UTF8Key]) throws(NATSClusterError) -> [JetStreamSessionLogState] {
    let connection = try NATSConnection(configuration)
    guard sessions.count > Self.maxSingleReads else {
      var states: [JetStreamSessionLogState] = []
      for session in sessions {
        states += try connection.sessionLogs(
          of: configuration.names.sessionSubject(of: session.text), includesParts: true)
      }
      return states
    }
    let wanted = Set(sessions)
    return try connection.sessionLogs(of: configuration.names.allSessions, includesParts: true) {
      wanted.contains($0)
    }
  }
}

extension NATSConnection {
  /// Reads the logs of the wanted sessions of some subjects, in the order in which they began.
  /// Blocks meanwhile.
  func sessionLogs(
    of subjects: String, includesParts: Bool, where isWanted: (UTF8Key) -> Bool = { _ in true }
  ) throws(NATSClusterError) -> [JetStreamSessionLogState] {
    var states: [JetStreamSessionLogState] = []
    var indices: [UTF8Key: Int] = [:]
    try forEachMessage(in: names.sessionStream, of: subjects) { message in
      // If the subject is none of a session, it serves as the session's name.
      let id = UTF8Key(names.session(ofSubject: message.subject) ?? message.subject)
      guard isWanted(id) else { return }
      let index = indices[id] ?? states.count
      if index == states.count {
        indices[id] = index
        states.append(
          JetStreamSessionLogState(
            of: id, on: message.subject, logCipher, includesParts: includesParts))
      }
      states[index].add(message.bytes, message.sequence, after: message.previousSequence)
    }
    return states
  }
}
