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
  /// The credential with which the client resumes.
  var resumeCredential: ResumeCredential
  /// The connection that carries this client; nil while it has none, or for good.
  @exclusivity(unchecked) var channel: (any MessageChannel)?
  /// The start time of the last connection, in nanoseconds of the loops' clock, and its id.
  /// Connections that began before it have been discarded.
  private(set) var lastConnection: (began: UInt64, id: UInt64)
  /// Whether the client may resume. Read with every message, and only on the loop.
  @exclusivity(unchecked) private(set) var isResumable = false
  /// The sequence numbers of both directions, and the messages that the client has not
  /// acknowledged. Nil if the client is not resumable. Used with every message, only on the loop,
  /// and never reentrantly.
  @exclusivity(unchecked) var sequence: SequenceState?
  /// The part of the client's state that is stored.
  @exclusivity(unchecked) var persistence = PersistenceState()
  /// Whether the client has shown that it numbers its messages.
  var numbersMessages = false
  /// The bytes that ``ResumableClients`` has counted for the outbox.
  @exclusivity(unchecked) var outboxBytes = 0
  /// Fires when messages that the client has not acknowledged have to be checked for persistence.
  var persistenceTimer: (any ScheduledWork)?
  /// Fires when an acknowledgement is due.
  var acknowledgementTimer: (any ScheduledWork)?
  /// The time at which the client lost its connection, in nanoseconds of the loop's clock.
  private(set) var disconnectedAt: UInt64 = 0
  /// Fires when a disconnected client has not resumed in time.
  var resumeTimer: (any ScheduledWork)?
  /// The page that this client runs in.
  let page: String?
  /// The client's own description of its program.
  let software: ClientSoftware
  /// What the client presented before its session was opened.
  private(set) var handshake: Handshake
  /// The client's identity and permissions.
  @exclusivity(unchecked) var rights = Rights.none
  var identitySource = IdentitySource.own
  /// Fires when the client's identity is about to expire, or expires.
  var expiryTimer: (any ScheduledWork)?
  /// Requests to this client that wait for its response.
  var pending: PendingCalls<PendingRequest>
  /// The bytes that are held for the client.
  let budget: ByteBudget
  /// The time for which the client has occupied the loop.
  @exclusivity(unchecked) var fairShare = ClientFairShare()
  /// The rest of a batch that has used up its turn.
  @exclusivity(unchecked) var batch: SessionBatchInProgress?
  /// The limit of the client's call rate.
  @exclusivity(unchecked) var rateLimiter: CallRateLimiter
  /// The trace of the request that is being performed, if call records are wanted.
  @exclusivity(unchecked) var trace: CallTrace?

  /// The number of tokens of the client that were rejected.
  var rejectedTokenCount = 0

  /// The number of calls with an idempotency key that start as soon as they are stored, and of the
  /// requests that wait for them.
  @exclusivity(unchecked) var startingCallCount = 0

  /// Whether the client leaves when its calls have ended.
  var leavesWhenIdle = false

  /// Calls of this client that wait for their response.
  @exclusivity(unchecked) private var calls: PendingCallTable
  /// Calls that arrived as notifications and are not finished. No response is due for them, but
  /// their number is limited as well.
  private var notificationCalls: Set<CallNumber> = []
  /// The number of these that do not count as calls in flight, because their page is shown.
  @exclusivity(unchecked) private var uncountedNotificationCount = 0
  private let maxInFlight: Int

  init(
    id: ClientID, of session: String = "", page: String? = nil,
    software: ClientSoftware = ClientSoftware(),
    handshake: Handshake = Handshake(), channel: any MessageChannel, limits: Limits,
    within budget: ByteBudget
  ) {
    self.id = id
    resumeCredential = ResumeCredential()
    self.page = page
    self.software = software
    self.handshake = handshake
    self.channel = channel
    lastConnection = (0, channel.id)
    name = ClientName.make(of: session)
    isResumable = handshake.subprotocol != nil
    sequence = isResumable ? SequenceState() : nil
    maxInFlight = limits.maxInFlight
    self.budget = ByteBudget(.client, limits.maxClientBytes, within: budget)
    rateLimiter = CallRateLimiter(limits)
    calls = PendingCallTable(limit: limits.maxInFlight)
    pending = PendingCalls(limit: limits.maxInFlight * 4)
  }

  /// Restores a client of an earlier run of the server, which has no connection yet. `requests` is
  /// the last request id that was used for it so far.
  init(
    restoring id: ClientID, name: String, resumeCredential: ResumeCredential, page: String?,
    software: ClientSoftware, handshake: Handshake, _ sequence: SequenceState, requests: Int64,
    disconnectedAt now: UInt64, limits: Limits, within session: ByteBudget
  ) {
    self.id = id
    self.name = name
    self.resumeCredential = resumeCredential
    self.page = page
    self.software = software
    self.handshake = handshake
    self.sequence = sequence
    disconnectedAt = now
    isResumable = true
    lastConnection = (0, 0)
    maxInFlight = limits.maxInFlight
    budget = ByteBudget(.client, limits.maxClientBytes, within: session)
    rateLimiter = CallRateLimiter(limits)
    calls = PendingCallTable(limit: limits.maxInFlight)
    pending = PendingCalls(limit: limits.maxInFlight * 4, after: requests)
  }

  /// Whether the client has lost its connection.
  var isDisconnected: Bool { channel == nil }

  /// Stops numbering messages of the client and holding them for a resume.
  func stopNumbering() {
    isResumable = false
    sequence = nil
  }

  /// The number of the last message that was handled. The messages of a batch count as handled when
  /// the whole batch is.
  var lastHandled: UInt64 { batch?.precedingNumber ?? sequence?.received ?? 0 }

  /// Attaches another connection to the client.
  func connect(_ channel: any MessageChannel, since began: UInt64, _ handshake: Handshake) {
    resumeTimer?.cancel()
    resumeTimer = nil
    var handshake = handshake
    // Keep the earlier token if the new connection has none.
    handshake.token = handshake.token ?? self.handshake.token
    self.handshake = handshake
    self.channel = channel
    lastConnection = (began, channel.id)
  }

  /// Detaches the connection from the client. `now` is in nanoseconds of the loop's clock.
  func disconnect(at now: UInt64) {
    channel = nil
    persistence.pending = nil
    disconnectedAt = now
    acknowledgementTimer?.cancel()
    acknowledgementTimer = nil
  }

  /// Charges bytes that are held for the client. Throws 2429 if they, with the bytes queued for it,
  /// exceed the limit of the client, its session or the server.
  func charge(_ bytes: Int) throws(CallError) -> ByteBudget.Charge {
    do { return try budget.charge(bytes, alongside: channel?.bufferedBytes ?? 0) } catch {
      throw CallError(error, for: bytes)
    }
  }

  /// Checks the id of a request and the number of calls. That suffices for a request that gets its
  /// response at once.
  func check(_ id: RequestID) throws(CallError) { try calls.check(id) }

  /// Counts a call that does not end at once. Throws at the limit; for a notification the caller
  /// never learns of this.
  func beginCall(_ number: CallNumber, at handle: ReplyHandle) throws(CallError) {
    guard handle.isNotification else { return try calls.begin(handle.id, number) }
    let count = notificationCalls.count - uncountedNotificationCount + calls.detachedCount
    guard count < maxInFlight else {
      throw CallError(
        .tooMany, "At most \(maxInFlight) notifications of a client may be in progress")
    }
    notificationCalls.insert(number)
  }

  /// Stops counting a call as one in flight, because it only waits for the outcome of a page that is
  /// shown. Its id stays in use.
  func stopCountingCall(at handle: ReplyHandle) {
    if handle.isNotification {
      uncountedNotificationCount += 1
    } else {
      calls.stopCounting()
    }
  }

  /// Throws 2429 if too many calls of the client wait for the outcomes of pages. There can be more
  /// of them than pages, because several calls may wait for the same page.
  func checkPageWaits() throws(CallError) {
    guard calls.uncountedCount + uncountedNotificationCount < Self.maxPageWaits else {
      throw CallError(
        .tooMany,
        "\(Self.maxPageWaits) calls of the client wait for the outcome of a page; cancel some or "
          + "close their pages", data: ["limit": .integer(Int64(Self.maxPageWaits))])
    }
  }

  /// The maximum number of calls of one client that wait for pages.
  static let maxPageWaits = 4 * NavigationStack.maxPages

  /// Removes a call that has its response. `isCounted` is false for a call that
  /// ``stopCountingCall(at:)`` was called for.
  func endCall(_ number: CallNumber, at handle: ReplyHandle, isCounted: Bool) {
    if !handle.isNotification {
      _ = calls.end(handle.id, isCounted: isCounted)
    } else if notificationCalls.remove(number) != nil, !isCounted {
      uncountedNotificationCount -= 1
    }
  }

  /// Whether no call of the client is in progress.
  var isIdle: Bool {
    notificationCalls.isEmpty && calls.isEmpty && batch == nil
  }

  /// Keeps the slot of a call that has ended for this client, but not yet for the client that
  /// serves it.
  func retainSlot() { calls.addDetached() }

  /// Releases a slot when the serving client has responded or disconnected.
  func releaseSlot() { calls.removeDetached() }

  /// The number of the call in progress with an id.
  func callNumber(_ id: RequestID) -> CallNumber? { calls[id] }

  /// Removes and returns the unfinished calls, in order, when there is no connection for their
  /// responses.
  func drainCalls() -> [CallNumber] {
    defer {
      notificationCalls = []
      uncountedNotificationCount = 0
    }
    return calls.drain() + notificationCalls.sorted()
  }
}

/// A client's description of itself in `session.open`: its program, the program's version, and its
/// platform. Members that the client did not send are nil.
struct ClientSoftware: Sendable {
  var name: String?
  var version: String?
  var platform: String?
}

extension ClientSoftware {
  /// The record in which the description is stored.
  var record: ValueObject {
    var fields: ValueObject = [:]
    fields["name"] = name.map(Value.string)
    fields["version"] = version.map(Value.string)
    fields["platform"] = platform.map(Value.string)
    return fields
  }

  /// Decodes a ``record``.
  init(_ record: StoredRecord) {
    self.init(
      name: record["name"]?.string, version: record["version"]?.string,
      platform: record["platform"]?.string)
  }
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
      guard let loop else { return client.releaseSlot() }
      loop.execute { client.releaseSlot() }
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
