import WayTransport
import WayValues

/// The clients of one session. Belongs to the isolation of its ``Session``. As in ``Client``,
/// properties that every message needs are not checked for exclusive access.
final class SessionClients {
  @exclusivity(unchecked) private var clients: [ClientID: Client] = [:]
  private var lastID: ClientID = 0
  /// The last sender. Consecutive messages often have the same one, so it is compared first.
  @exclusivity(unchecked) private var lastSender: Client?
  private let limits: Limits
  /// The bytes held for all clients.
  let budget: ByteBudget
  private let session: String

  init(of session: String, limits: Limits, budget: ByteBudget) {
    self.session = session
    self.limits = limits
    self.budget = budget
  }

  /// The bytes that wait to be sent to any client.
  var queuedBytes: Int { clients.values.reduce(0) { $0 + ($1.channel?.bufferedBytes ?? 0) } }

  var isEmpty: Bool { clients.isEmpty }
  var count: Int { clients.count }

  /// Whether no client has a connection.
  var areAllDisconnected: Bool { clients.values.allSatisfy(\.isDisconnected) }

  /// The clients in the order in which they joined.
  var all: [Client] { clients.values.sorted { $0.id < $1.id } }

  /// Creates a client without rights, which is not part of the session until it is added. Throws if
  /// the session is full.
  func makeClient(
    page: String? = nil, software: ClientSoftware = ClientSoftware(),
    handshake: Handshake = Handshake(), channel: any MessageChannel
  ) throws(CallError) -> Client {
    guard clients.count < limits.maxClients else {
      throw CallError(.tooMany, "The session has reached its limit of \(limits.maxClients) clients")
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

  /// The client that sent a message.
  func sender(_ id: ClientID) -> Client? {
    if let lastSender, lastSender.id == id { return lastSender }
    lastSender = clients[id]
    return lastSender
  }

  /// The client with a name.
  func named(_ name: String) -> Client? {
    clients.values.first { $0.name.isSameUTF8(as: name) }
  }

  /// The clients that run in a page, in the order in which they have joined.
  func inside(page: String) -> [Client] {
    var found: [Client] = []
    for client in clients.values where client.page == page { found.append(client) }
    return found.count > 1 ? found.sorted { $0.id < $1.id } : found
  }

  /// The client that runs in a page, the last one if there are several; never `caller`.
  func inside(page: String, except caller: ClientID?) -> Client? {
    clients.values.filter { $0.page == page && $0.id != caller }.max { $0.id < $1.id }
  }
}
