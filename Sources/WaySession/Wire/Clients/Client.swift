import WayNavigation
import WayRPC
import WayTransport
import WayValues

/// A client of a session: the state that outlives a connection, and the connection that carries the
/// client now.
///
/// Confined to the loop of its session; all its methods are called there. Properties that every
/// message needs are not checked for exclusive access. They are plain words, or values that make no
/// callbacks while they change.
final class Client: @unchecked Sendable {
  let id: ClientID
  /// The client's name on the wire.
  let name: String
  /// The client's connection, and the messages that survive it.
  @exclusivity(unchecked) var link: ClientLink
  /// The page that this client runs in.
  let page: String?
  /// The client's own description of its program.
  let software: ClientSoftware
  /// The client's identity and permissions.
  @exclusivity(unchecked) var rights = Rights.none
  /// The source and the expiry of the client's identity.
  var authentication = ClientIdentity(.own)
  /// Requests to this client that wait for its response.
  var pending: PendingCalls<PendingRequest>
  /// The bytes that are held for the client.
  let budget: ByteBudget
  /// The trace of the request that is being performed, if call records are wanted.
  @exclusivity(unchecked) var trace: CallTrace?

  /// The client's requests that have no response yet, and the limits of its calls.
  @exclusivity(unchecked) var calls: ClientCalls

  init(
    id: ClientID, of session: String = "", page: String? = nil,
    software: ClientSoftware = ClientSoftware(),
    handshake: Handshake = Handshake(), channel: any MessageChannel, limits: Limits,
    within budget: ByteBudget
  ) {
    self.id = id
    self.page = page
    self.software = software
    link = ClientLink(handshake, channel)
    name = ClientName.make(of: session)
    self.budget = ByteBudget(.client, limits.maxClientBytes, within: budget)
    calls = ClientCalls(limits)
    pending = PendingCalls(limit: limits.maxInFlight * 4)
  }

  /// Restores a client of an earlier run of the server, which has no connection yet. `requests` is
  /// the last request id that was used for it so far.
  init(
    restoring id: ClientID, name: String, _ link: consuming ClientLink, page: String?,
    software: ClientSoftware, requests: Int64, limits: Limits, within session: ByteBudget
  ) {
    self.id = id
    self.name = name
    self.link = link
    self.page = page
    self.software = software
    budget = ByteBudget(.client, limits.maxClientBytes, within: session)
    calls = ClientCalls(limits)
    pending = PendingCalls(limit: limits.maxInFlight * 4, after: requests)
  }

  /// The connection that carries this client; nil while it has none, or for good.
  @inline(__always)
  var channel: (any MessageChannel)? { link.channel }

  /// Whether the client has lost its connection.
  @inline(__always)
  var isDisconnected: Bool { link.channel == nil }

  /// The number of the last message that was handled. The messages of a batch count as handled when
  /// the whole batch is.
  var lastHandled: UInt64 { calls.batch?.precedingNumber ?? link.received }

  /// Charges bytes that are held for the client. Throws 2429 if they, with the bytes queued for it,
  /// exceed the limit of the client, its session or the server.
  func charge(_ bytes: Int) throws(CallError) -> ByteBudget.Charge {
    do { return try budget.charge(bytes, alongside: channel?.bufferedBytes ?? 0) } catch {
      throw CallError(error, for: bytes)
    }
  }
}

extension ClientPresence {
  init(_ client: Client) {
    let (caller, software) = (client.rights.caller, client.software)
    self.client = client.name
    name = software.name
    version = software.version
    platform = software.platform
    page = client.page
    user = caller.identity.user
    guest = caller.isGuest ? true : nil
    agent = caller.agent?.value(for: caller.identity.user)
    away = client.isDisconnected ? true : nil
  }
}
