import WayValues

/// Finds the session of a user that an agent joins: of those with a connected client, one that serves
/// the agent's URI rather than another, and the newest of them.
struct AgentSessionQuery: PeerOperation, Codable {
  /// A session of the user at one server.
  struct FoundSession: Codable, Sendable {
    let session: String
    /// Whether the URI has a handler, or a host with a connection.
    let servesURI: Bool
    let openedAt: Int64

    /// Whether an agent joins this session rather than another one.
    func isBetter(than other: FoundSession) -> Bool {
      guard servesURI == other.servesURI else { return servesURI }
      return (openedAt, session) > (other.openedAt, other.session)
    }
  }

  struct AgentSessionResult: Codable, Sendable {
    /// `nil` if the server has no such session.
    var found: FoundSession?
  }

  static let method = "peer.agentSession"
  let user: String
  /// The session that the agent has asked for; `nil` for the best one.
  let session: String?
  let uri: String?

  func run(in context: PeerContext) async -> AgentSessionResult {
    let found = await context.server.gather { loopSessions in
      [await loopSessions.session(for: self)].compactMap(\.self)
    }
    return AgentSessionResult(found: found.reduce(nil, Self.better))
  }

  /// The session of two that an agent joins.
  static func better(_ one: FoundSession?, _ other: FoundSession) -> FoundSession {
    guard let one, !other.isBetter(than: one) else { return other }
    return one
  }
}

extension SessionDispatch {
  /// Returns the session that an agent joins, with the server that has it if that is another one;
  /// `nil` if the user has none. Servers that do not respond are left out.
  func session(
    for query: AgentSessionQuery
  ) async -> (found: AgentSessionQuery.FoundSession, server: String?)? {
    let context = PeerContext(dispatch: self) { _ in }
    async let others = sendToOthers(query)
    var best = await query.run(in: context).found.map {
      (found: $0, server: String?.none)
    }
    for other in await others {
      guard case .success(let result) = other.result, let found = result.found else { continue }
      if let best, !found.isBetter(than: best.found) { continue }
      best = (found, other.server)
    }
    return best
  }
}
