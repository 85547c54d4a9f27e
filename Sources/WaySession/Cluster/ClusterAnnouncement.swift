import WayValues

/// How a server admits clients. The servers of one cluster must agree on it, because clients of each
/// reach the sessions of all.
package struct ClusterAnnouncement: Sendable, Hashable {
  /// Whether clients need a token.
  package enum ClientAuthentication: String, Sendable {
    /// No client is authenticated.
    case none
    /// A client without a token is accepted, without an identity.
    case optional
    case required

    fileprivate var description: String {
      switch self {
      case .none: "authenticates no clients"
      case .optional: "accepts clients without a token"
      case .required: "requires tokens of clients"
      }
    }
  }

  package let authentication: ClientAuthentication
  /// Whether a policy limits the calls of clients.
  package let hasPolicy: Bool
  /// The name of the machine, for messages to people.
  package let host: String

  package init(
    authentication: ClientAuthentication = .none, hasPolicy: Bool = false, host: String = ""
  ) {
    self.authentication = authentication
    self.hasPolicy = hasPolicy
    self.host = host
  }

  /// The form that other servers read.
  package var members: ValueObject {
    [
      "authentication": .string(authentication.rawValue), "hasPolicy": .bool(hasPolicy),
      "host": .string(host),
    ]
  }

  /// Reads ``members`` among others; nil if no server of this version has written them.
  package init?(_ members: ValueObject) {
    guard let host = members["host"]?.string, let hasPolicy = members["hasPolicy"]?.bool,
      let authentication = members["authentication"]?.string.flatMap(ClientAuthentication.init)
    else { return nil }
    self.init(authentication: authentication, hasPolicy: hasPolicy, host: host)
  }

  /// The reason why this server and another one must not share sessions; nil if they may.
  package func conflict(with other: ClusterAnnouncement, of server: String) -> ClusterConflict? {
    let name = "the server \(server) on \(other.host)"
    guard authentication == other.authentication else {
      return ClusterConflict(
        reason: "\(name) \(other.authentication.description), but this one "
          + authentication.description,
        advice: "use the same settings for tokens on all servers of a cluster, or another name for "
          + "this cluster (--cluster-name)")
    }
    guard hasPolicy == other.hasPolicy else {
      return ClusterConflict(
        reason: other.hasPolicy
          ? "\(name) has a policy, but this one has none"
          : "\(name) has no policy, but this one has one",
        advice: "start all servers of a cluster with a policy, or all without one, or use another "
          + "name for this cluster (--cluster-name)")
    }
    return nil
  }

  /// Whether a forged message of another server would bypass the authentication of clients, or the
  /// policy.
  package var needsProtectedMessages: Bool { authentication != .none || hasPolicy }
}

/// The reason why a server must not share sessions with another one, and what to do about it.
package struct ClusterConflict: Error, Hashable, CustomStringConvertible {
  package let reason: String
  package let advice: String

  package init(reason: String, advice: String) {
    self.reason = reason
    self.advice = advice
  }

  package var description: String { "\(reason); \(advice)" }
}
