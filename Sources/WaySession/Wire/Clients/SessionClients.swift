import WayTransport
import WayValues

/// The members of one session. Belongs to its ``Session``'s isolation, and what every message needs
/// is not checked for exclusive access, as that of ``Client``.
final class SessionClients {
  @exclusivity(unchecked) private var clients: [ClientID: Client] = [:]
  private var lastID: ClientID = 0
  /// Messages come in runs, so the last sender is looked at first.
  @exclusivity(unchecked) private var lastSender: Client?
  private let limits: Limits
  /// What is kept for all of them.
  let budget: ByteBudget
  private let session: String

  init(of session: String, limits: Limits, budget: ByteBudget) {
    self.session = session
    self.limits = limits
    self.budget = budget
  }

  /// Bytes that wait to be sent to any of them.
  var queuedBytes: Int { clients.values.reduce(0) { $0 + ($1.channel?.bufferedBytes ?? 0) } }

  var isEmpty: Bool { clients.isEmpty }
  var count: Int { clients.count }

  /// In the order in which they came.
  var all: [Client] { clients.values.sorted { $0.id < $1.id } }

  /// Makes a client, which is none of the members before it is added, and has no rights yet. Fails
  /// when the session is full.
  func makeClient(
    page: String? = nil, software: ClientSoftware = ClientSoftware(),
    handshake: Handshake = Handshake(), channel: any MessageChannel
  ) throws(CallError) -> Client {
    guard clients.count < limits.maxClients else {
      throw CallError(.tooMany, "The session has \(limits.maxClients) clients, which is its limit")
    }
    return Client(
      id: lastID + 1, of: session, page: page, software: software, handshake: handshake,
      channel: channel, limits: limits, within: budget)
  }

  func add(_ client: Client) {
    lastID = client.id
    clients[client.id] = client
  }

  func remove(_ id: ClientID) -> Client? {
    lastSender = nil
    return clients.removeValue(forKey: id)
  }

  subscript(id: ClientID) -> Client? { clients[id] }

  /// The member that a message comes from.
  func sender(_ id: ClientID) -> Client? {
    if let lastSender, lastSender.id == id { return lastSender }
    lastSender = clients[id]
    return lastSender
  }

  /// The member of a name.
  func named(_ name: String) -> Client? {
    clients.values.first { $0.name == name }
  }

  /// The member that runs in a page, the last of several; another than `caller`.
  func inside(page: String, except caller: ClientID?) -> Client? {
    clients.values.filter { $0.page == page && $0.id != caller }.max { $0.id < $1.id }
  }
}
