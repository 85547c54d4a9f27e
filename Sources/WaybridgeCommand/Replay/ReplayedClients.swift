import Waybridge
import WaybridgeClient

/// The clients of a recording that are there now, and with what others become members of their session.
struct ReplayedClients {
  /// By their names in the recording.
  private var clients: [String: BridgeClient] = [:]
  private var join: BridgeClient.Join?
  /// Invitations that nobody has come with.
  private var invitations: [BridgeClient.Join] = []

  var all: some Collection<BridgeClient> { clients.values }

  subscript(name: String) -> BridgeClient? { clients[name] }

  /// What a member comes with: a guest with the next invitation, the first one with nothing.
  mutating func join(of member: RecordedSession.Member) -> BridgeClient.Join? {
    member.isGuest && !invitations.isEmpty ? invitations.removeFirst() : join
  }

  mutating func add(_ client: BridgeClient, as name: String, _ session: BridgeClient.Session?) {
    clients[name] = client
    if join == nil { join = session?.join }
  }

  mutating func remove(_ name: String) -> BridgeClient? { clients.removeValue(forKey: name) }

  mutating func removeAll() { clients = [:] }

  /// Keeps what `session.invite` has answered, for the guest who comes next.
  mutating func invite(_ answer: Value) {
    guard let session = answer["session"]?.string, let token = answer["token"]?.string else {
      return
    }
    invitations.append(BridgeClient.Join(session: session, token: token))
  }
}
