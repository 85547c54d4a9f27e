import WayNavigation
import WayRPC
import WayTransport
import WayValues

/// The number of a client within its session.
typealias ClientID = Int

/// The number of a call within its session. Only calls that do not end at once have one.
typealias CallNumber = Int

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

/// A client's description of itself in `session.open`: its program, the program's version, and its
/// platform. Members that the client did not send are nil.
struct ClientSoftware: Sendable, Codable {
  var name: String?
  var version: String?
  var platform: String?
}

/// The purpose of a request that was sent to a client; it decides how its response is handled.
enum RequestPurpose {
  /// Opens this page.
  case open(page: String)
  /// Reports that a page closes. Nothing depends on the response.
  case close
  /// Runs this call's task, or the method of its page. The caller gets the response.
  case run(CallNumber)
  /// Belongs to this call of the app, which gets the response unchanged.
  case push(CallNumber)

  /// Whether the server itself sent the request, and not a call.
  var isServerInitiated: Bool { if case .close = self { true } else { false } }

  /// The call that receives progress.
  var call: CallNumber? {
    switch self {
    case .open, .close: nil
    case .run(let number), .push(let number): number
    }
  }
}

/// A request that was sent to a client. Belongs to the client's isolation.
final class PendingRequest {
  let method: String
  let purpose: RequestPurpose
  /// The session that sent the request, if it may differ from the client's session.
  var requester: (any Requester)?
  /// Fires when the client has not responded in time.
  var timeout: (any ScheduledWork)?
  /// The caller for which the request still counts after its call has ended without a response.
  var slotHolder: SlotHolder?
  /// The rights of the call that the request serves, if that call is on another loop.
  var rights: Rights?
  /// The sequence number of the request; 0 if it was not sent yet, or has none.
  var sequenceNumber: UInt64 = 0
  /// The trace of the request; nil if there was no inspector when it was made.
  var trace: RequestTrace?

  init(_ method: String, for purpose: RequestPurpose, by requester: (any Requester)?) {
    self.method = method
    self.purpose = purpose
    self.requester = requester
  }

  /// A client that waits for a response which it does not need any more.
  struct SlotHolder: Sendable {
    let client: Client
    /// The client's loop, if it is another one.
    var loop: (any EventLoop)?

    func releaseSlot() {
      guard let loop else { return client.calls.releaseSlot() }
      loop.execute { client.calls.releaseSlot() }
    }
  }

  /// Finishes the request; no other response follows.
  func settle() {
    timeout?.cancel()
    slotHolder?.releaseSlot()
  }
}

/// A session that sends requests to clients.
protocol Requester: Actor {}
