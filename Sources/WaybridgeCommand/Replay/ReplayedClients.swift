import Waybridge
import WaybridgeClient

/// The connected clients of a replay, and the credentials with which further clients join their
/// session.
struct ReplayedClients {
  /// The clients by their ids in the recording.
  private var clients: [String: BridgeClient] = [:]
  private var sessionCredentials: BridgeClient.JoinCredentials?
  /// Invitations that no guest has used yet.
  private var invitations: [BridgeClient.JoinCredentials] = []

  var all: some Collection<BridgeClient> { clients.values }

  subscript(name: String) -> BridgeClient? { clients[name] }

  /// The credentials of a client: a guest uses the next invitation, the first client has none.
  mutating func credentials(of client: ReplayedSession.RecordedClient) -> BridgeClient
    .JoinCredentials?
  {
    client.isGuest && !invitations.isEmpty ? invitations.removeFirst() : sessionCredentials
  }

  mutating func add(
    _ client: BridgeClient, as name: String, _ session: BridgeClient.SessionDescription?
  ) {
    clients[name] = client
    if sessionCredentials == nil { sessionCredentials = session?.join }
  }

  mutating func remove(_ name: String) -> BridgeClient? { clients.removeValue(forKey: name) }

  mutating func removeAll() { clients = [:] }

  /// Stores the result of `session.invite` for the next guest.
  mutating func addInvitation(_ result: Value) {
    guard let session = result["session"]?.string, let token = result["token"]?.string else {
      return
    }
    invitations.append(BridgeClient.JoinCredentials(session: session, token: token))
  }
}
