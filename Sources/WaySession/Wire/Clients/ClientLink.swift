import WayRPC
import WayTransport

/// The link between a session and one client: the connection that carries the client, the messages of
/// both directions that survive it, and the client's absence. It decides which messages are accepted,
/// which have to wait, and which connection may resume the client.
///
/// As in ``Client``, properties that every message needs are not checked for exclusive access.
struct ClientLink: ~Copyable {
  /// How long a disconnected client may stay that has sent nothing yet. Such a client may not know
  /// that it is in the session.
  private static let unconfirmedTimeout: Duration = .seconds(10)

  /// The connection; nil while the client has none, or for good.
  private(set) var channel: (any MessageChannel)?
  /// What the client presented before its session was opened.
  private(set) var handshake: Handshake
  /// Whether the client may resume. Read with every message.
  private(set) var isResumable: Bool
  /// The sequence numbers of both directions, and the messages that the client has not acknowledged.
  /// Nil if the client is not resumable.
  private(set) var sequence: SequenceState?
  /// What is stored of the messages.
  var persistence = PersistenceState()
  /// The credential with which the client resumes.
  private(set) var credential: ResumeCredential
  /// Whether the client has shown that it numbers its messages.
  private(set) var numbersMessages = false
  /// The bytes that ``ResumableClients`` has counted for the outbox.
  private(set) var outboxBytes = 0
  /// The time at which the client lost its connection, in nanoseconds of the loop's clock.
  private(set) var disconnectedAt: UInt64 = 0
  /// The start time of the last connection, in nanoseconds of the loops' clock, and its id.
  /// Connections that began before it have been discarded.
  private var lastConnection: (began: UInt64, id: UInt64)
  /// Fires when messages that the client has not acknowledged have to be checked for persistence.
  private var persistenceTimer: (any ScheduledWork)?
  /// Fires when an acknowledgement is due.
  private var acknowledgementTimer: (any ScheduledWork)?
  /// Fires when a disconnected client has not resumed in time.
  private var resumeTimer: (any ScheduledWork)?

  /// Creates the link of a new client. It survives the connection if both sides number their
  /// messages.
  init(_ handshake: Handshake, _ channel: any MessageChannel) {
    self.handshake = handshake
    self.channel = channel
    lastConnection = (0, channel.id)
    credential = ResumeCredential()
    isResumable = handshake.subprotocol != nil
    sequence = isResumable ? SequenceState() : nil
  }

  /// Restores the link of a client of an earlier run of the server, which has no connection yet.
  init(
    restoring sequence: SequenceState, _ persistence: PersistenceState,
    _ credential: ResumeCredential, _ handshake: Handshake, numbersMessages: Bool,
    disconnectedAt now: UInt64
  ) {
    self.handshake = handshake
    self.sequence = sequence
    self.persistence = persistence
    self.credential = credential
    self.numbersMessages = numbersMessages
    disconnectedAt = now
    isResumable = true
    lastConnection = (0, 0)
  }
}

// Connections and absence.
extension ClientLink {
  /// Checks whether a connection that was opened at `began` may resume the client. Returns the number
  /// of the last message that the client has received. Nothing changes.
  func resumePoint(
    _ claim: ResumeClaim, over channel: any MessageChannel, since began: UInt64
  ) -> Result<UInt64, ResumeRejection> {
    guard let sequence else { return .failure(ResumeRejection(.unknown)) }
    guard
      case .after(let number) = sequence.resumePoint(
        after: claim.lastReceived, isReloaded: claim.isReloaded,
        isRestarted: persistence.isRestored),
      !persistence.isRestored || claim.isReloaded
        || claim.lastSent.map({ $0 >= sequence.received }) ?? true
    else { return .failure(ResumeRejection(.gap)) }
    guard credential.accepts(claim.token) else { return .failure(ResumeRejection(.token)) }
    guard (began, channel.id) > lastConnection else { return .failure(ResumeRejection(.stale)) }
    return .success(number)
  }

  /// Uses the token of a client that resumes. Revokes those before it, and issues another.
  mutating func redeem(_ token: PresentedToken) { credential.redeem(token) }

  /// Attaches another connection.
  mutating func connect(
    _ channel: any MessageChannel, since began: UInt64, _ handshake: Handshake
  ) {
    setResumeTimer(nil)
    var handshake = handshake
    // Keep the earlier token if the new connection has none.
    handshake.token = handshake.token ?? self.handshake.token
    self.handshake = handshake
    self.channel = channel
    lastConnection = (began, channel.id)
  }

  /// Detaches the connection. `now` is in nanoseconds of the loop's clock.
  mutating func disconnect(at now: UInt64) {
    channel = nil
    persistence.pending = nil
    disconnectedAt = now
    acknowledgementTimer?.cancel()
    acknowledgementTimer = nil
  }

  /// Ends the link for good. The connection stays for responses until ``detach()``.
  mutating func end() {
    setResumeTimer(nil)
    acknowledgementTimer?.cancel()
    persistenceTimer?.cancel()
  }

  /// Detaches the connection of an ended link.
  mutating func detach() { channel = nil }

  /// Returns the time for which a disconnected client stays, at most `time`.
  func resumeTimeout(atMost time: Duration) -> Duration {
    numbersMessages ? time : min(time, Self.unconfirmedTimeout)
  }

  /// Replaces the timer that fires when a disconnected client has not resumed in time; `nil` for
  /// none.
  mutating func setResumeTimer(_ timer: (any ScheduledWork)?) {
    resumeTimer?.cancel()
    resumeTimer = timer
  }
}

// Received messages.
extension ClientLink {
  /// The number of the last message that was received.
  var received: UInt64 { sequence?.received ?? 0 }

  /// Decides about a numbered frame. Returns `nil` if the client is not resumable.
  mutating func receive(_ numbers: SequenceNumbers, bytes: Int) -> SequenceState.SequenceCheck? {
    confirmNumbering()
    persistence.isReplayUncertain = numbers.last <= persistence.uncertainThrough
    persistence.reportsRestart = false
    return sequence?.receive(numbers, bytes: bytes)
  }

  /// Records that the client numbers its messages, which shows that it has the last token.
  mutating func confirmNumbering() {
    numbersMessages = true
    if credential.isUnconfirmed { credential.confirm() }
  }

  /// Stops numbering messages and holding them for a resume. Held messages are sent as they are.
  mutating func stopNumbering() {
    if let pending = persistence.pending, let channel {
      sequence?.outbox.replay(after: pending.lastSent) { channel.send($0, as: .text) }
    }
    persistence = PersistenceState()
    isResumable = false
    sequence = nil
  }

  /// Whether so many messages were not acknowledged that the client may soon reach its limit. Mutating,
  /// so that the sequence is read in place and not copied.
  var isAcknowledgementOverdue: Bool { mutating get { sequence?.isAckOverdue == true } }

  /// Whether there are messages that were not acknowledged to the client.
  var hasUnacknowledged: Bool { sequence?.hasUnacknowledged == true }

  /// Returns when to acknowledge messages. An acknowledgement that is due already covers them.
  mutating func acknowledgementTiming() -> SequenceState.AckTiming {
    switch sequence?.ackTiming() {
    case .now: .now
    case .soon: acknowledgementTimer == nil && channel != nil ? .soon : .never
    case .never, nil: .never
    }
  }

  /// Sets the timer that fires when an acknowledgement is due.
  mutating func setAcknowledgementTimer(_ timer: any ScheduledWork) { acknowledgementTimer = timer }

  /// Records that the timer has fired. Returns whether to acknowledge messages.
  mutating func acknowledgementTimerFired() -> Bool {
    acknowledgementTimer = nil
    return hasUnacknowledged
  }

  /// Returns the number to acknowledge, at most `number`, and marks it as acknowledged. Returns `nil`
  /// if there is none to send.
  mutating func acknowledge(through number: UInt64) -> UInt64? {
    // The first message on a resumed connection is the response to `session.resume`, which
    // acknowledges the messages as well.
    guard channel != nil, persistence.pending?.awaitsResumeResponse != true else { return nil }
    return sequence?.acknowledge(through: number)
  }

  /// Returns the number of the last message that the client acknowledges by a stored change; `nil` if
  /// there is nothing to acknowledge.
  func receivedMessages(storedThrough change: Int) -> UInt64? {
    let (number, received) = persistence.lastReceived
    return number <= change && hasUnacknowledged ? received : nil
  }
}

// Sent messages.
extension ClientLink {
  /// Sends a message on the connection, with a number if the client is resumable. Then it has to wait
  /// for the change `barrier` if the store does not have that yet; `nil` if there is no such change.
  @inline(__always)
  mutating func send(
    _ message: [UInt8], over channel: any MessageChannel, after barrier: @autoclosure () -> Int?
  ) {
    if !isResumable {
      channel.send(message.span.bytes, as: .text)
    } else if mustAwaitStore(barrier()) {
      sequence?.outbox.add(message) { _ in }
      hold(until: barrier())
    } else {
      sequence?.outbox.add(message) { channel.send($0, as: .text) }
    }
  }

  /// Sends the responses of a batch to a resumable client, as ``send(_:over:after:)`` does.
  mutating func send(
    batch responses: [[UInt8]], over channel: any MessageChannel, after barrier: Int?
  ) {
    if mustAwaitStore(barrier) {
      sequence?.outbox.add(batch: responses) { _ in }
      hold(until: barrier)
    } else {
      sequence?.outbox.add(batch: responses) { channel.send($0, as: .text) }
    }
  }

  /// Adds a message for a client without a connection. `tag` names the request, or the call whose
  /// progress the message reports.
  mutating func enqueue(_ message: [UInt8], _ tag: Outbox.MessageTag) {
    sequence?.outbox.enqueue(message, tag)
  }

  /// Adds the responses of a batch for a client without a connection.
  mutating func enqueue(batch responses: [[UInt8]]) { sequence?.outbox.enqueue(batch: responses) }

  /// The number of the message that was sent last; `nil` if messages have none.
  var lastSent: UInt64? { sequence?.outbox.last }

  /// The bytes that the client has not acknowledged, or that wait for it.
  var unacknowledgedBytes: Int { sequence?.outbox.bytes ?? 0 }

  /// Gives the messages that wait for the client their numbers, and `numbered` those of requests.
  mutating func numberUnsent(_ numbered: (RequestID, UInt64) -> Void) {
    sequence?.outbox.numberUnsent(numbered)
  }

  /// Whether messages have to wait for the store. Called before a message is added, since it records
  /// the last message that was sent before.
  @inline(__always)
  private mutating func mustAwaitStore(_ barrier: @autoclosure () -> Int?) -> Bool {
    if persistence.pending != nil { return true }
    guard barrier() != nil, let last = sequence?.outbox.last else { return false }
    persistence.pending = PendingPersistence(after: last)
    return true
  }

  /// Holds the message that was added last until the store has the change `barrier`.
  private mutating func hold(until barrier: Int?) {
    guard let last = sequence?.outbox.last else { return }
    persistence.pending?.add(through: last, until: barrier ?? 0)
  }

  /// Sends the messages that have waited for changes up to `change`, which are stored now. Returns
  /// whether there were any.
  mutating func flush(through change: Int) -> Bool {
    let range = persistence.pending?.release(through: change)
    if persistence.pending?.isFinished == true { persistence.pending = nil }
    guard let range, let channel else { return false }
    sequence?.outbox.replay(after: range.after, through: range.through) {
      channel.send($0, as: .text)
    }
    return true
  }

  /// Whether the state has to be recorded as changed; it is, once until it is stored.
  @inline(__always)
  mutating func markChanged() -> Bool {
    if persistence.isDirty || !isResumable { return false }
    persistence.isDirty = true
    return true
  }

  /// Records an acknowledgement of the client. Returns false if fewer messages than that were sent.
  mutating func receiveAcknowledgement(of number: UInt64) -> Bool {
    sequence?.outbox.acknowledge(number) == true
  }

  /// Prepares the outbox of a resuming client that has received the messages up to `number`.
  /// The rest is sent again after the response to `session.resume`, and after the change `barrier` is
  /// stored. `numbered` receives the numbers of the requests that get one.
  mutating func resume(
    after number: UInt64, _ barrier: Int?, numbered: (RequestID, UInt64) -> Void
  ) {
    sequence?.resume(after: number, { _ in }, numbered: numbered)
    persistence.pending = PendingPersistence(after: number, awaitsResumeResponse: true)
    hold(until: barrier)
  }

  /// Records that the connection has got the response to `session.resume`.
  mutating func markResumed() { persistence.pending?.markResumed() }

  /// Reconciles a restored link with the positions that the client reports from before the server's
  /// restart. Returns the requests whose responses the client has not received, and which are lost.
  mutating func reconcile(_ claim: ResumeClaim, upTo number: UInt64) -> [RequestID] {
    let lost = persistence.unconfirmedResponses.filter { $0.last > number }.map(\.id)
    persistence.unconfirmedResponses = []
    persistence.isRestored = false
    // The server may have performed these messages before its restart. A reloaded client does not
    // send them again. Of a client that does not report what it sent, none are assumed.
    persistence.uncertainThrough =
      claim.isReloaded ? 0 : min(persistence.uncertainThrough, claim.lastSent ?? 0)
    return lost
  }

  /// Continues the numbers of the outbox after `number`.
  mutating func skipNumbers(to number: UInt64) { sequence?.outbox.skip(to: number) }

  /// Removes a message that has no number yet. Returns whether there was one.
  mutating func withdraw(_ id: RequestID) -> Bool { sequence?.outbox.withdraw(id) == true }

  /// Whether the client has acknowledged the message with a number.
  func hasAcknowledged(_ number: UInt64) -> Bool {
    guard let sequence else { return false }
    return number <= sequence.outbox.acknowledged
  }

  /// Counts the outbox again. Returns its size, and the difference to the last one; `nil` if there is
  /// no outbox.
  @inline(__always)
  mutating func countOutbox() -> (size: Outbox.OutboxSize, growth: Int)? {
    guard let size = sequence?.outbox.currentSize() else { return nil }
    let growth = size.bytes - outboxBytes
    outboxBytes = size.bytes
    return (size, growth)
  }

  /// Stops counting the outbox. Returns the bytes that were counted.
  mutating func stopCountingOutbox() -> Int {
    defer { outboxBytes = 0 }
    return outboxBytes
  }

  /// Whether the outbox has to be checked for persistence, and no timer is set for it.
  var needsPersistenceTimer: Bool { persistenceTimer == nil }

  /// Replaces the timer that fires when the outbox has to be checked for persistence; `nil` for none.
  mutating func setPersistenceTimer(_ timer: (any ScheduledWork)?) { persistenceTimer = timer }
}
