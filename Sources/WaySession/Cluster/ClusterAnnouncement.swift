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

  /// Whether a forged message of another server would bypass the authentication of clients, or the
  /// policy.
  package var needsProtectedMessages: Bool { authentication != .none || hasPolicy }
}
