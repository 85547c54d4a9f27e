import WayRPC
import WaySession
import WayValues

/// The value of a server's lease, with what the servers of a cluster must agree on.
struct NATSLeaseValue: Sendable, Hashable {
  let server: String
  var announcement: ClusterAnnouncement
  /// The names of the server's secrets; the first one protects its messages.
  var secrets: [String]
  /// The NATS servers whose votes extend the lease (``NATSQuorum``); empty if it is not extended.
  var voters: [String] = []
  /// The number of the message with which the server has joined, in the order of all servers; nil if
  /// it is not known yet.
  var joined: UInt64?

  /// The form in NATS. `lifetime` is how long the lease lasts, for people.
  func bytes(lifetime: Duration) -> [UInt8] {
    var members = announcement.members
    members["server"] = .string(server)
    members["secrets"] = .array(secrets.map(Value.string))
    members["voters"] = .array(voters.map(Value.string))
    members["lifetimeMs"] = .integer(Int64(lifetime / .milliseconds(1)))
    if let joined { members["joined"] = .integer(Int64(clamping: joined)) }
    return Array(((try? JSON.text(.object(members))) ?? "{}").utf8)
  }

  init(
    server: String, announcement: ClusterAnnouncement, secrets: [String], joined: UInt64? = nil
  ) {
    self.server = server
    self.announcement = announcement
    self.secrets = secrets
    self.joined = joined
  }

  /// Parses the form in NATS; nil if no server of this version has written it.
  init?(_ bytes: [UInt8]) {
    guard let members = (try? JSON.parse(bytes.span.bytes))?.object,
      let server = members["server"]?.string, let secrets = members["secrets"]?.array,
      let announcement = ClusterAnnouncement(members)
    else { return nil }
    self.init(
      server: server, announcement: announcement, secrets: secrets.compactMap(\.string),
      joined: members["joined"]?.integer.flatMap { UInt64(exactly: $0) })
    voters = members["voters"]?.array?.compactMap(\.string) ?? []
  }

  /// The reason why two servers must not share sessions, as seen from this one; nil if they may.
  func conflict(with other: NATSLeaseValue) -> ClusterConflict? {
    // Each must accept what the other sends.
    let isCommon =
      switch (secrets.first, other.secrets.first) {
      case (let own?, let theirs?): other.secrets.contains(own) && secrets.contains(theirs)
      case (nil, nil): true
      default: false
      }
    guard isCommon else {
      return ClusterConflict(
        reason: "the server \(other.server) on \(other.announcement.host) has "
          + "\(Self.description(of: other.secrets)), but this one has "
          + Self.description(of: secrets),
        advice: "use the same secret file on all servers of a cluster (--cluster-secret-file), or "
          + "another name for this cluster (--cluster-name)")
    }
    return announcement.conflict(with: other.announcement, of: other.server)
  }

  private static func description(of secrets: [String]) -> String {
    switch secrets.count {
    case 0: "no cluster secret"
    case 1: "the cluster secret \(secrets[0])"
    default: "the cluster secrets \(secrets.joined(separator: ", "))"
    }
  }
}
