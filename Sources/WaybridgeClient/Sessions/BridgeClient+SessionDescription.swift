import WayNavigation
import WayValues

extension BridgeClient {
  /// What the server answered to `session.open`.
  public struct Session: Sendable {
    /// The session's id.
    public let id: String
    /// The name of this client in its session, as pages tell it in ``Page/host``.
    public let client: String
    /// This client's secret.
    public let token: String
    /// With this other clients join the session, with all rights; nil for a guest.
    public let join: Join?
    /// Whether this client was invited, and so may do less than others.
    public let isGuest: Bool
    /// The page that a guest was invited for, in which it runs.
    public let page: String?
    /// When the client's token expires, in milliseconds since 1970-01-01 UTC; nil for never. Before
    /// that comes the event `session.expiring`, and ``BridgeClient/renew(_:)`` is due.
    public let expires: Int64?
    /// The server's name and version.
    public let server: (name: String, version: String)
    /// The version of the protocol that both sides speak.
    public let protocolVersion: String
    /// Names the state of the connection's numbering; another one means that it was lost.
    public let epoch: String
    /// What the server bounds, by name (`maxMessage` in bytes, `maxInFlight`, `helloMs`, …).
    public let limits: ValueObject
    /// The server's route table; empty texts where it has none.
    public let table: TableStamp
    /// What the server can do beyond the protocol's first version.
    public let capabilities: [String]

    init?(_ answer: Value) {
      guard let id = answer["session"]?.string, let client = answer["client"]?.string,
        let token = answer["token"]?.string
      else { return nil }
      self.id = id
      self.client = client
      self.token = token
      join = answer["joinToken"]?.string.map { Join(session: id, token: $0) }
      isGuest = answer["guest"]?.bool ?? false
      page = answer["page"]?.string
      expires = answer["expiresAt"]?.integer
      protocolVersion = answer["protocol"]?.string ?? ""
      epoch = answer["epoch"]?.string ?? ""
      let server = answer["server"]
      self.server = (server?["name"]?.string ?? "", server?["version"]?.string ?? "")
      limits = answer["limits"]?.object ?? [:]
      let table = answer["table"]
      self.table = TableStamp(
        version: table?["version"]?.string ?? "", hash: table?["hash"]?.string ?? "")
      capabilities = answer["capabilities"]?.list?.compactMap(\.string) ?? []
    }
  }
}
