import WayTransport

/// The limits of the connections of each address.
typealias AddressQuota = PeerQuota<String>

/// Counts the connections of a server by what limits them: their address, whether their client is
/// authenticated, and whether they are reserved for administrators. It decides what to close;
/// ``ServerSockets`` closes it.
struct ConnectionAdmission {
  private struct AcceptedWebSocket {
    let addressSlot: AddressQuota.Slot?
    let isReserved: Bool
  }

  private let limits: Limits
  private let authenticatesClients: Bool
  private let addressQuota: AddressQuota
  private var webSockets: [UInt64: AcceptedWebSocket] = [:]
  private var reservedCount = 0
  /// The HTTP connections, and the WebSocket connections whose clients are not authenticated; empty
  /// if the server authenticates no clients.
  private var unadmitted = UnadmittedConnections()

  init(_ configuration: SocketServerConfiguration) {
    limits = configuration.limits
    authenticatesClients = configuration.authenticatesClients
    addressQuota = AddressQuota(
      maxSlots: limits.maxAddressConnections,
      rate: RateLimit(
        rate: limits.maxAddressRate,
        burst: max(limits.maxAddressConnections, limits.maxAddressRate)))
  }

  /// Number of WebSocket connections that count toward the server's limit of connections.
  var countedWebSockets: Int { webSockets.count - reservedCount }

  var statistics: AdmissionStatistics {
    AdmissionStatistics(unadmitted: unadmitted.count, reserved: reservedCount)
  }

  /// Takes a slot of a client's address, at a time of one clock in nanoseconds.
  func slot(
    of client: SocketForwardedNode, at now: UInt64
  ) throws(HTTPRequestRejection) -> AddressQuota.Slot {
    let key: String =
      if case .address(let address) = client { address.networkText } else {
        client.text
      }
    do throws(AddressQuota.Excess) {
      return try addressQuota.acquire(key, at: now)
    } catch {
      throw .address(error)
    }
  }

  mutating func accepted(_ id: UInt64) {
    if authenticatesClients { unadmitted.insert(id) }
  }

  /// Records that an HTTP connection has become a WebSocket connection.
  mutating func upgraded(_ id: UInt64, _ upgrade: WebSocketUpgrade) {
    let isReserved = upgrade.handshake.isReserved
    webSockets[id] = AcceptedWebSocket(
      addressSlot: upgrade.addressSlot, isReserved: isReserved)
    if isReserved { reservedCount += 1 }
    if !upgrade.authenticates { unadmitted.remove(id) }
  }

  /// Records that the client of a WebSocket connection, or of a streamed response, is authenticated.
  mutating func admitted(_ id: UInt64) { unadmitted.remove(id) }

  /// Records that a connection has ended, or that an HTTP connection has handed its socket on.
  mutating func ended(_ id: UInt64, isWebSocket: Bool) {
    if isWebSocket {
      if webSockets.removeValue(forKey: id)?.isReserved == true { reservedCount -= 1 }
      unadmitted.remove(id)
    } else if webSockets[id] == nil {
      unadmitted.remove(id)
    }
  }

  /// Selects the connection to close before another one is accepted: the one that has been without
  /// an authenticated client for the longest time, if there are too many of these, or if the server
  /// is full. Throws if there are too many and none can be closed.
  mutating func connectionToReplace(
    isFull: Bool = false, where mayClose: (UInt64) -> Bool
  ) throws(HTTPRequestRejection) -> UInt64? {
    guard authenticatesClients else { return nil }
    let isOverLimit = unadmitted.count >= limits.maxUnauthenticated
    guard isOverLimit || isFull else { return nil }
    let id = unadmitted.removeFirst { id in
      // A reserved connection does not keep others out of a full server.
      (isOverLimit || webSockets[id]?.isReserved != true) && mayClose(id)
    }
    if id == nil, isOverLimit { throw .unauthenticated }
    return id
  }

  /// Selects the connection to close before a reserved one is accepted, if any. Throws if there is
  /// no room.
  mutating func reservedConnectionToReplace() throws(HTTPRequestRejection) -> UInt64? {
    if reservedCount < limits.maxReserved { return nil }
    // A closed connection ends some turns later.
    guard reservedCount < 2 * limits.maxReserved,
      let id = unadmitted.removeFirst(where: { webSockets[$0]?.isReserved == true })
    else { throw .full }
    return id
  }
}

/// How many connections a server has that are not those of authenticated clients.
package struct AdmissionStatistics: Sendable {
  /// Number of HTTP connections, and of WebSocket connections whose clients are not authenticated;
  /// 0 for a server that authenticates no clients.
  package let unadmitted: Int
  /// Number of WebSocket connections beyond the limit of connections.
  package let reserved: Int
}
