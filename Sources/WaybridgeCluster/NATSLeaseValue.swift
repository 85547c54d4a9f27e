import WayRPC
import WaySession
import WayValues

/// The value of a server's lease, with what the servers of a cluster must agree on.
struct NATSLeaseValue: Sendable, Hashable {
  let server: String
  let announcement: ClusterAnnouncement
  /// The names of the server's secrets; the first one protects its messages.
  var secrets: [String]

  /// The form in NATS. `lifetime` is how long the lease lasts, for people.
  func bytes(lifetime: Duration) -> [UInt8] {
    let value: Value = [
      "server": .string(server), "host": .string(announcement.host),
      "authentication": .string(announcement.authentication.rawValue),
      "policy": .bool(announcement.hasPolicy), "secrets": .array(secrets.map(Value.string)),
      "lifetimeMs": .integer(Int64(lifetime / .milliseconds(1))),
    ]
    return Array(((try? JSON.text(value)) ?? "{}").utf8)
  }

  init(server: String, announcement: ClusterAnnouncement, secrets: [String]) {
    self.server = server
    self.announcement = announcement
    self.secrets = secrets
  }

  /// Parses the form in NATS; nil if no server of this version has written it.
  init?(_ bytes: [UInt8]) {
    guard let value = try? JSON.parse(bytes.span.bytes), let server = value["server"]?.string,
      let host = value["host"]?.string, let secrets = value["secrets"]?.array,
      let authentication = value["authentication"]?.string.flatMap(
        ClusterAnnouncement.ClientAuthentication.init)
    else { return nil }
    self.init(
      server: server,
      announcement: ClusterAnnouncement(
        authentication: authentication, hasPolicy: value["policy"]?.bool ?? false, host: host),
      secrets: secrets.compactMap(\.string))
  }

  /// The reason why two servers must not share sessions, as seen from this one; nil if they may.
  func conflict(with other: NATSLeaseValue) -> ClusterConflict? {
    let name = "the server \(other.server) on \(other.announcement.host)"
    guard announcement.authentication == other.announcement.authentication else {
      return ClusterConflict(
        reason: "\(name) \(Self.description(of: other.announcement.authentication)), but this one "
          + Self.description(of: announcement.authentication),
        advice: "use the same settings for tokens on all servers of a cluster, or another name for "
          + "this cluster (--cluster-name)")
    }
    // Each must accept what the other sends.
    let isCommon =
      switch (secrets.first, other.secrets.first) {
      case (let own?, let theirs?): other.secrets.contains(own) && secrets.contains(theirs)
      case (nil, nil): true
      default: false
      }
    guard isCommon else {
      return ClusterConflict(
        reason: "\(name) has \(Self.description(of: other.secrets)), but this one has "
          + Self.description(of: secrets),
        advice: "use the same secret file on all servers of a cluster (--cluster-secret-file), or "
          + "another name for this cluster (--cluster-name)")
    }
    guard announcement.hasPolicy == other.announcement.hasPolicy else {
      return ClusterConflict(
        reason: other.announcement.hasPolicy
          ? "\(name) has a policy, but this one has none"
          : "\(name) has no policy, but this one has one",
        advice: "start all servers of a cluster with a policy, or all without one, or use another "
          + "name for this cluster (--cluster-name)")
    }
    return nil
  }

  private static func description(
    of authentication: ClusterAnnouncement.ClientAuthentication
  ) -> String {
    switch authentication {
    case .none: "authenticates no clients"
    case .optional: "accepts clients without a token"
    case .required: "requires tokens of clients"
    }
  }

  private static func description(of secrets: [String]) -> String {
    switch secrets.count {
    case 0: "no cluster secret"
    case 1: "the cluster secret \(secrets[0])"
    default: "the cluster secrets \(secrets.joined(separator: ", "))"
    }
  }
}

/// The reason why a server must not join a cluster, and what to do about it.
struct ClusterConflict: Hashable {
  let reason: String
  let advice: String
}
