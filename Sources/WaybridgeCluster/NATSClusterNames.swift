import WaySession
import WayStore

/// The names of all streams, buckets and subjects of one cluster in NATS. All begin with the
/// cluster's name, so that several clusters can share one NATS account.
struct NATSClusterNames: Sendable, Hashable {
  /// The maximum length of a cluster's name, in characters.
  static let maxLength = 32
  private static let coding = StoredRecordPercentCoding(
    mark: "=", keeping: "-_", isUppercase: false)

  /// The name of the cluster.
  let cluster: String

  /// Returns nil if a name has other characters than letters, digits, `-` and `_` of ASCII, begins
  /// with `-` or `_`, is empty, or is too long.
  init?(_ cluster: String) {
    guard (1...Self.maxLength).contains(cluster.utf8.count),
      cluster.utf8.allSatisfy({ Self.isAlphanumeric($0) || $0 == 0x2D || $0 == 0x5F }),
      cluster.utf8.first.map(Self.isAlphanumeric) == true
    else { return nil }
    self.cluster = cluster
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
  }

  /// The stream that contains the logs of all sessions.
  var sessionStream: String { cluster + "-sessions" }
  /// The subjects of all sessions.
  var allSessions: String { sessionPrefix + "*" }
  /// The bucket with the leases of the servers.
  var leaseBucket: String { cluster + "-servers" }
  /// The bucket with the documents that all servers share.
  var documentBucket: String { cluster + "-documents" }
  /// The bucket with the registry of each session's blobs, and the object store with their bytes.
  var blobBucket: String { cluster + "-blobs" }
  /// The subject for messages to all servers.
  var broadcastSubject: String { cluster + ".server.all" }
  /// The prefix of the subjects for responses of NATS, without a final dot.
  var inboxPrefix: String { cluster + ".inbox" }

  private var sessionPrefix: String { cluster + ".session." }

  /// The subject of a session's log. It encodes the session's id: letters, digits, `-` and `_` are
  /// unchanged; any other byte is `=` and two hex digits.
  func sessionSubject(of session: String) -> String {
    sessionPrefix + Self.coding.encoded(session)
  }

  /// The key of a session in the bucket of blobs.
  func blobKey(of session: String) -> String { Self.coding.encoded(session) }

  /// Returns the id of the session whose log has a subject; nil for another subject.
  func session(ofSubject subject: String) -> String? {
    subject.hasPrefix(sessionPrefix)
      ? Self.coding.decodedText(of: subject.dropFirst(sessionPrefix.count)) : nil
  }

  /// The subject of the signals that a NATS server passes on (``NATSQuorum``).
  func quorumSubject(of voter: String) -> String {
    cluster + ".server.quorum." + Self.coding.encoded(voter)
  }

  /// The subject for messages to one server.
  func serverSubject(of server: String) -> String { cluster + ".server.to." + server }
}
