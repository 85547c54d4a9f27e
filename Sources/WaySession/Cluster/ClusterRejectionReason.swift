/// Why a server of a cluster rejects connections and sends no messages of its sessions.
package enum ClusterRejectionReason: Sendable, Hashable {
  /// It must not share sessions with another server.
  case conflict
  /// Another server has declared it down.
  case declaredDown
  /// It finds out which sessions other servers have taken over.
  case verification
  /// Its lease has expired, because the engine does not respond.
  case engineUnreachable
  /// Its lease has expired, although the engine responds. It renews the lease by itself.
  case leaseExpired

  /// The reason for clients. The engine's address and the details are only logged.
  package var text: String {
    switch self {
    case .conflict: "the settings of this server differ from those of its cluster"
    case .declaredDown: "another server considers this one failed and may own its sessions"
    case .verification: "this server finds out which sessions it still owns"
    case .engineUnreachable: "NATS cannot be reached"
    case .leaseExpired: "the lease of this server has expired"
    }
  }

  /// What the operator of the server can do about it; nil if the server recovers by itself.
  package var advice: String? {
    switch self {
    case .conflict: "start it with the settings of the other servers; its log has the difference"
    case .engineUnreachable: "repair NATS or the network"
    case .declaredDown, .verification, .leaseExpired: nil
    }
  }
}
