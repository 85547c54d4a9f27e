import WayRPC
import WayTransport
import WayValues

/// Numbers the clients of one session.
typealias ClientID = Int

/// Numbers the calls of one session that did not end at once.
typealias CallNumber = Int

/// A member of a session: what outlives a connection, apart from the connection that carries it
/// now.
///
/// Confined to the loop of its session, on which are all that it may be asked by. What every message
/// needs is not checked for exclusive access: words, and values that call nobody back while they
/// change.
final class Client: @unchecked Sendable {
  let id: ClientID
  /// The name that the wire uses.
  let name: String
  /// What the client proves itself with when it resumes.
  var proof: ClientProof
  /// The connection that carries this client; nil while it has none, or for good.
  @exclusivity(unchecked) var channel: (any MessageChannel)?
  /// The last connection that carried it: when it came, in nanoseconds of the loops' clock, and its
  /// id. One that came before has been given up.
  private(set) var lastConnection: (began: UInt64, id: UInt64)
  /// Whether it may resume. Asked with every message, and a word of its loop alone.
  @exclusivity(unchecked) private(set) var isResumable = false
  /// Numbers both ways, and what the client has not acknowledged; nil for one that is not resumable.
  /// Used with every message, on the loop alone, and by nobody in the midst of using it.
  @exclusivity(unchecked) var numbering: SequenceState?
  /// What the store has of it.
  @exclusivity(unchecked) var kept = PersistenceState()
  /// Whether it has shown that it numbers what it sends.
  var isNumbering = false
  /// What ``Resumables`` has counted of its outbox.
  @exclusivity(unchecked) var outboxBytes = 0
  /// Rings when it has to be looked at what it has not acknowledged.
  var look: (any ScheduledWork)?
  /// Rings when an acknowledgement is due.
  var ack: (any ScheduledWork)?
  /// Since when it has no connection, in the loop's nanoseconds.
  private(set) var absentSince: UInt64 = 0
  /// Rings when a client without a connection has not resumed in its time.
  var absence: (any ScheduledWork)?
  /// The page that this client runs in.
  let page: String?
  /// What the client calls itself.
  let software: ClientSoftware
  /// What it has shown of itself before its session.
  private(set) var handshake: Handshake
  /// Who it is, and what it may do.
  @exclusivity(unchecked) var rights = Rights.none
  /// Rings when its identity is about to end, or ends.
  var expiry: (any ScheduledWork)?
  /// Requests to this client that wait for its answer.
  var pending: PendingCalls<PendingRequest>
  /// What is kept for it.
  let budget: ByteBudget
  /// How long it has kept the loop.
  @exclusivity(unchecked) var turn = Turn()
  /// What is left of a batch whose turn has ended.
  @exclusivity(unchecked) var batch: SessionBatchInProgress?
  /// How often it calls.
  @exclusivity(unchecked) var rate: CallRateLimiter
  /// Of the request that is carried out now, where records of calls are asked for.
  @exclusivity(unchecked) var note: CallTrace?

  /// How many tokens that it showed were refused.
  var refusedTokens = 0

  /// It leaves when its calls have ended.
  var leavesWhenIdle = false

  /// Calls of this client that wait for their answer.
  @exclusivity(unchecked) private var calls: CallsInFlight
  /// Calls that came as notifications and are not done yet: nobody waits for them, and they are
  /// bounded all the same.
  private var silentCalls: Set<CallNumber> = []
  private let maxInFlight: Int

  init(
    id: ClientID, of session: String = "", page: String? = nil,
    software: ClientSoftware = ClientSoftware(),
    handshake: Handshake = Handshake(), channel: any MessageChannel, limits: Limits,
    within budget: ByteBudget
  ) {
    self.id = id
    proof = ClientProof()
    self.page = page
    self.software = software
    self.handshake = handshake
    self.channel = channel
    lastConnection = (0, channel.id)
    name = ClientName.make(of: session)
    isResumable = handshake.subprotocol != nil
    numbering = isResumable ? SequenceState() : nil
    maxInFlight = limits.maxInFlight
    self.budget = ByteBudget(.client, limits.maxClientBytes, within: budget)
    rate = CallRateLimiter(limits)
    calls = CallsInFlight(limit: limits.maxInFlight)
    pending = PendingCalls(limit: limits.maxInFlight * 4)
  }

  /// A client of another life of the server, which has no connection yet. `requests` are the ids that
  /// it was asked under so far.
  init(
    restoring id: ClientID, name: String, proof: ClientProof, page: String?,
    software: ClientSoftware, handshake: Handshake, _ numbering: SequenceState, requests: Int64,
    absentSince now: UInt64, limits: Limits, within session: ByteBudget
  ) {
    self.id = id
    self.name = name
    self.proof = proof
    self.page = page
    self.software = software
    self.handshake = handshake
    self.numbering = numbering
    absentSince = now
    isResumable = true
    lastConnection = (0, 0)
    maxInFlight = limits.maxInFlight
    budget = ByteBudget(.client, limits.maxClientBytes, within: session)
    rate = CallRateLimiter(limits)
    calls = CallsInFlight(limit: limits.maxInFlight)
    pending = PendingCalls(limit: limits.maxInFlight * 4, after: requests)
  }

  /// Whether it is a member whose connection was lost.
  var isAbsent: Bool { channel == nil }

  /// From now on nothing is numbered and kept for it.
  func stopNumbering() {
    isResumable = false
    numbering = nil
  }

  /// The last message of it that was dealt with: what came in one batch was when all of it was.
  var taken: UInt64 { batch?.before ?? numbering?.received ?? 0 }

  /// Another connection carries it from now on.
  func connect(_ channel: any MessageChannel, since began: UInt64, _ handshake: Handshake) {
    absence?.cancel()
    absence = nil
    var handshake = handshake
    // What it came with stays where the new connection brings nothing.
    handshake.token = handshake.token ?? self.handshake.token
    self.handshake = handshake
    self.channel = channel
    lastConnection = (began, channel.id)
  }

  /// No connection carries it.
  func disconnect(at now: UInt64) {
    channel = nil
    kept.held = nil
    absentSince = now
    ack?.cancel()
    ack = nil
  }

  /// Takes what is to be kept for it. Fails with 2429 where that, with what waits to be sent to it,
  /// is too much for it, its session or the server.
  func charge(_ bytes: Int) throws(CallError) -> ByteBudget.Charge {
    do { return try budget.charge(bytes, besides: channel?.bufferedBytes ?? 0) } catch {
      throw CallError(error, for: bytes)
    }
  }

  /// Whether a request may be carried out, as far as its id and its count tell: enough for one that
  /// is answered at once.
  func check(_ id: RequestID) throws(CallError) { try calls.check(id) }

  /// Keeps count of a call that goes on. At the limit it is refused, which nobody is told of a
  /// notification.
  func begin(_ number: CallNumber, at address: ReplyHandle) throws(CallError) {
    guard address.isSilent else { return try calls.begin(address.id, number) }
    guard silentCalls.count + calls.owed < maxInFlight else {
      throw CallError(.tooMany, "At most \(maxInFlight) notifications may be under way")
    }
    silentCalls.insert(number)
  }

  /// A call has its answer.
  func end(_ number: CallNumber, at address: ReplyHandle) {
    if address.isSilent { silentCalls.remove(number) } else { _ = calls.end(address.id) }
  }

  /// Whether no call of it is under way.
  var isIdle: Bool { silentCalls.isEmpty && calls.count == calls.owed && batch == nil }

  /// A call of this client has ended for it, and not for who was asked.
  func owe() { calls.owe() }

  /// Who was asked has answered, or is gone.
  func paid() { calls.paid() }

  /// The call in flight under an id.
  func call(_ id: RequestID) -> CallNumber? { calls[id] }

  /// Hands out the calls that are not done, in their order, when nobody is there to be answered.
  func drainCalls() -> [CallNumber] {
    defer { silentCalls = [] }
    return calls.drain() + silentCalls.sorted()
  }
}

/// What a client says of itself in `session.open`: its program, that one's version, and what it
/// runs on; nil where it did not say.
struct ClientSoftware: Sendable {
  var name: String?
  var version: String?
  var platform: String?
}

extension ClientSoftware {
  /// As it is kept.
  var record: ValueObject {
    var members: ValueObject = [:]
    members["name"] = name.map(Value.string)
    members["version"] = version.map(Value.string)
    members["platform"] = platform.map(Value.string)
    return members
  }

  /// Reads what ``record`` gives.
  init(_ record: Record) {
    self.init(
      name: record["name"]?.string, version: record["version"]?.string,
      platform: record["platform"]?.string)
  }
}

/// What a request that was sent to a client is for, and so what its answer leads to.
enum RequestPurpose {
  /// To open this page.
  case open(page: String)
  /// To tell that a page closes: nothing depends on the answer.
  case close
  /// To have this call's task run, or its page's method; the caller gets the answer.
  case run(CallNumber)
  /// This call of the app's side; it gets the answer as it is.
  case push(CallNumber)

  /// Whether it is the server's own, and no call's.
  var isOfServer: Bool { if case .close = self { true } else { false } }

  /// The call that hears of progress.
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
  /// Who asks, where it may be another session than the client's.
  var asker: (any Requester)?
  /// Rings when the client has not answered in time.
  var timeout: (any ScheduledWork)?
  /// Whose call it was, where that has ended without its answer.
  var debtor: Debtor?
  /// Those of the call that it serves, where that is a call of another loop.
  var rights: Rights?
  /// The number that it was sent with; 0 where it was not sent yet, or has none.
  var seq: UInt64 = 0
  /// What is to be told of it; nil where nobody watched when it was made.
  var note: RequestTrace?

  init(_ method: String, for purpose: RequestPurpose, by asker: (any Requester)?) {
    self.method = method
    self.purpose = purpose
    self.asker = asker
  }

  /// Who has an answer to wait for that it does not want any more.
  struct Debtor: Sendable {
    let client: Client
    /// Where that is another loop.
    var loop: (any EventLoop)?

    func paid() {
      guard let loop else { return client.paid() }
      loop.execute { client.paid() }
    }
  }

  /// There will be no other answer.
  func settle() {
    timeout?.cancel()
    debtor?.paid()
  }
}

/// A session that asks clients.
protocol Requester: Actor {}
