import WayValues

extension BridgeClient {
  /// A client of this client's session.
  public struct PresentClient: Sendable, Hashable, Decodable {
    /// The id of the client.
    public let client: String
    /// The name of the program, as the client reports it.
    public let name: String?
    /// The version of the program.
    public let version: String?
    /// The platform that the program runs on.
    public let platform: String?
    /// The page that the client runs in.
    public let page: String?
    /// The user of the client's token; a guest has the user of its inviter.
    public let user: String?
    /// Whether the client was invited, with limited rights.
    public let isGuest: Bool
    /// Whether the client has lost its connection, and may resume.
    public let isAway: Bool

    private enum CodingKeys: String, CodingKey {
      case client, name, version, platform, page, user, guest, away
    }

    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      client = try members.decode(String.self, forKey: .client)
      name = try members.decodeIfPresent(String.self, forKey: .name)
      version = try members.decodeIfPresent(String.self, forKey: .version)
      platform = try members.decodeIfPresent(String.self, forKey: .platform)
      page = try members.decodeIfPresent(String.self, forKey: .page)
      user = try members.decodeIfPresent(String.self, forKey: .user)
      isGuest = try members.decodeIfPresent(Bool.self, forKey: .guest) ?? false
      isAway = try members.decodeIfPresent(Bool.self, forKey: .away) ?? false
    }
  }

  /// The result of `session.clients`.
  private struct PresentClients: Decodable {
    let clients: [PresentClient]
  }

  /// Returns the clients of this client's session, in the order in which they joined. A guest gets
  /// only itself. To miss no change, subscribe to `session.*` first, with ``events(_:buffer:)``.
  /// Throws ``CallError``: 2403 if the policy does not allow it.
  public func clients() async throws(CallError) -> [PresentClient] {
    let response = try await perform("session.clients", [:])
    guard let present = try? response.decode(as: PresentClients.self) else {
      throw .malformedResponse("session.clients", response)
    }
    return present.clients
  }
}
