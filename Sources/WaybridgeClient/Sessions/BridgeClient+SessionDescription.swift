import WayNavigation
import WayValues

extension BridgeClient {
  /// The server's response to `session.open`.
  public struct SessionDescription: Sendable {
    /// The session's id.
    public let id: String
    /// The name of this client in its session, as in ``HostedPage/host``.
    public let client: String
    /// This client's secret.
    public let token: String
    /// The credentials with which other clients join the session, with all rights; nil for a guest.
    public let join: JoinCredentials?
    /// Whether this client was invited, with limited rights.
    public let isGuest: Bool
    /// The page that a guest was invited for, in which it runs.
    public let page: String?
    /// When the client's token expires, in milliseconds since 1970-01-01 UTC; nil for never. Before
    /// that the event `session.expiring` arrives, and the client has to call
    /// ``BridgeClient/renew(_:)``.
    public let expiresAt: Int64?
    /// The server's name and version.
    public let server: (name: String, version: String)
    /// The version of the protocol that both sides speak.
    public let protocolVersion: String
    /// Identifies the connection's sequence numbers; a different value means that they were lost.
    public let epoch: String
    /// The server's limits, by name (`maxMessage` in bytes, `maxInFlight`, `helloMs`, …).
    public let limits: ValueObject
    /// The server's route table; empty strings if it has none.
    public let table: TableStamp
    /// The server's capabilities beyond the protocol's first version.
    public let capabilities: [String]

    init?(_ response: Value) {
      guard let id = response["session"]?.string, let client = response["client"]?.string,
        let token = response["token"]?.string
      else { return nil }
      self.id = id
      self.client = client
      self.token = token
      join = response["joinToken"]?.string.map { JoinCredentials(session: id, token: $0) }
      isGuest = response["guest"]?.bool ?? false
      page = response["page"]?.string
      expiresAt = response["expiresAt"]?.integer
      protocolVersion = response["protocol"]?.string ?? ""
      epoch = response["epoch"]?.string ?? ""
      let server = response["server"]
      self.server = (server?["name"]?.string ?? "", server?["version"]?.string ?? "")
      limits = response["limits"]?.object ?? [:]
      let table = response["table"]
      self.table = TableStamp(
        version: table?["version"]?.string ?? "", hash: table?["hash"]?.string ?? "")
      capabilities = response["capabilities"]?.array?.compactMap(\.string) ?? []
    }
  }
}
