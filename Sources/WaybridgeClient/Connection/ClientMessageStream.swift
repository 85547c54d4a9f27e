import WayRPC
import WayTransport
import WayValues

/// The messages of a client across its connections. If the server can resume, messages are
/// numbered, acknowledged and stored, and buffered while there is no connection. Unnumbered
/// requests belong to a single connection.
///
/// Does not own a connection or a clock; both are passed in.
struct ClientMessageStream: ~Copyable {
  /// How to handle a frame.
  enum FrameDisposition: Sendable {
    case deliver
    case drop
    /// The frame is the response to an unnumbered request: call its handler.
    case response(@Sendable (Result<Value, CallError>) -> Void, Result<Value, CallError>)
    /// The sequence numbers of both sides do not match, for this reason: the connection is
    /// unusable.
    case gap(String)
  }

  /// The position of a stream.
  struct StreamPosition: Sendable {
    /// The number of the last received message.
    let received: UInt64
    /// The number of the last message that was passed to a connection, whether or not it was
    /// delivered. A message that waits for a connection has no number yet.
    let sent: UInt64
  }

  /// The limit of unacknowledged bytes; a single message may be larger. A socket buffers up to 8
  /// MiB.
  private static let maxBufferedBytes = 6 << 20

  /// The sequence state; nil if the server cannot resume, or the app does not want it.
  private var sequence: SequenceState?
  private var canResume = false
  private var writer = MessageWriter()
  private var responseHandlers: [RequestID: @Sendable (Result<Value, CallError>) -> Void] = [:]
  private var lastRequestNumber = 0
  /// The received responses whose requests may be sent again, each with the number of the last
  /// message that was sent before it arrived.
  private var responses: [(id: RequestID, sentBefore: UInt64)] = []
  /// The number of the last message that was replaced because the server could not read it.
  private var lastReplaced: UInt64 = 0

  var isNumbered: Bool { sequence != nil }
  /// Whether the buffer of unacknowledged messages is full.
  var isFull: Bool { (sequence?.outbox.bytes ?? 0) > Self.maxBufferedBytes }
  /// Whether any received message was not acknowledged.
  var hasUnacknowledged: Bool { sequence?.hasUnacknowledged == true }
  /// When to send the acknowledgement.
  mutating func ackTiming() -> SequenceState.AckTiming { sequence?.ackTiming() ?? .never }

  /// Begins a session. Numbered messages start with 1 on both sides; stored messages are dropped.
  mutating func begin(isNumbered: Bool) {
    sequence = isNumbered ? SequenceState() : nil
    canResume = isNumbered
    responses = []
    lastReplaced = 0
  }

  /// Prevents resuming; buffered messages still wait.
  mutating func disableResume() {
    canResume = false
  }

  /// The connection is lost: its unnumbered requests will have no response.
  mutating func connectionLost() {
    responseHandlers = [:]
  }

  /// The last numbers received and sent, for `session.resume`; nil if there is no session to
  /// resume.
  mutating func resumePosition() -> StreamPosition? {
    guard canResume, let received = sequence?.acknowledge(), let sent = sequence?.outbox.last else {
      return nil
    }
    return StreamPosition(received: received, sent: sent)
  }

  /// Replaces the message `number`, which the server could not read: a response by an error, any
  /// other message by a cancellation of `request`, which is nil for a notification. Returns false
  /// if there is no such message, or it was replaced before.
  mutating func replaceUnreadableMessage(_ number: UInt64, request: RequestID?) -> Bool {
    guard number > lastReplaced else { return false }
    var isReplaced = false
    sequence?.outbox.replaceSent { last, frame in
      guard last == number, let bytes = Self.replacement(of: frame, number, request)
      else { return nil }
      isReplaced = true
      return bytes
    }
    if isReplaced { lastReplaced = number }
    return isReplaced
  }

  private static func replacement(
    of frame: RawSpan, _ number: UInt64, _ request: RequestID?
  ) -> [UInt8]? {
    var writer = MessageWriter()
    if let id = MessageIDReader.responseIDs(in: frame).first {
      writer.writeError(
        id, CallError(.internal, "The server could not read the response", kind: "unreadable"))
    } else {
      do {
        try writer.writeNotification("$/cancelRequest", ["id": request?.value ?? .null])
      } catch {
        return nil
      }
    }
    return writer.numbered(number)
  }

  /// Resumes after the message `number`, the last that the server received. Sends the later
  /// messages again, then the buffered ones, and reports the numbers of these to `numbered`. Returns
  /// false, with nothing done, if that is impossible.
  mutating func resume(
    after number: UInt64, over channel: any MessageChannel,
    numbered: (RequestID, UInt64) -> Void
  ) -> Bool {
    guard case .after? = sequence?.resumePoint(after: number, isReloaded: false) else {
      return false
    }
    acknowledged(through: number)
    // A restarted server does not know that it has responded, and must not respond a second time.
    if !responses.isEmpty {
      let ids = Set(responses.map(\.id))
      sequence?.outbox.replaceSent { _, frame in
        MessageIDReader.notification(of: frame, whoseIDIsIn: ids)
      }
    }
    sequence?.resume(after: number, { channel.send($0, as: .text) }, numbered: numbered)
    return true
  }

  /// Sends a message, or buffers it if `channel` is nil; drops it if neither is possible. Returns
  /// the message's number if it already has one.
  mutating func send(
    _ message: [UInt8], _ tag: Outbox.MessageTag, over channel: (any MessageChannel)?
  ) -> UInt64? {
    guard sequence != nil else {
      channel?.send(message.span.bytes, as: .text)
      return nil
    }
    guard let channel else {
      sequence?.outbox.enqueue(message, tag)
      return nil
    }
    sequence?.outbox.add(message) { channel.send($0, as: .text) }
    return sequence?.outbox.last
  }

  /// Sends an unnumbered request. Throws -32602 if it cannot be encoded.
  mutating func requestUnnumbered(
    _ method: String, _ params: Value?, over channel: any MessageChannel,
    _ completion: @escaping @Sendable (Result<Value, CallError>) -> Void
  ) throws(CallError) {
    lastRequestNumber += 1
    let id = RequestID.string("apart-\(lastRequestNumber)")
    do {
      try writer.writeRequest(id, method, params)
    } catch {
      throw .invalidParams("The params of \(method) cannot be sent: \(error)")
    }
    responseHandlers[id] = completion
    writer.withBytes { channel.send($0, as: .text) }
  }

  /// Withdraws a request that was not sent yet. Returns false if it was sent.
  mutating func withdraw(_ id: RequestID) -> Bool {
    sequence?.outbox.withdraw(id) ?? false
  }

  /// Removes and returns the messages that were not sent yet.
  mutating func removeUnsent() -> [(message: [UInt8], tag: Outbox.MessageTag)] {
    sequence?.outbox.removeUnsent() ?? []
  }

  mutating func acknowledge(over channel: any MessageChannel) {
    guard let number = sequence?.acknowledge() else { return }
    writer.writeAcknowledgement(of: number)
    writer.withBytes { channel.send($0, as: .text) }
  }

  /// Decides how to handle a frame. Until the session is open (`isOpen`), no message has a number.
  mutating func receive(
    _ content: FrameContent, _ numbers: SequenceNumbers, bytes: Int, isOpen: Bool
  ) -> FrameDisposition {
    if case .message(.response(let response)) = content, numbers.areAbsent,
      let handler = responseHandlers.removeValue(forKey: response.id)
    {
      return .response(handler, response.result)
    }
    guard isOpen, sequence != nil else { return .deliver }
    if numbers.areAbsent { return receiveUnnumbered(content) }
    switch sequence?.receive(numbers, bytes: bytes) {
    case nil: return .deliver
    case .accept:
      noteResponse(content)
      return .deliver
    case .duplicate: return .drop
    case .gap: return .gap("the message after seq \(sequence?.received ?? 0) is missing")
    }
  }

  /// Notes a response whose request may be sent again.
  private mutating func noteResponse(_ content: FrameContent) {
    guard case .message(.response(let response)) = content, let last = sequence?.outbox.last,
      sequence?.outbox.acknowledged != last
    else { return }
    responses.append((response.id, last))
  }

  /// Returns false, with nothing changed, for a number that was never assigned.
  @discardableResult private mutating func acknowledged(through number: UInt64) -> Bool {
    guard sequence?.outbox.acknowledge(number) == true else { return false }
    responses.removeFirst(responses.prefix { $0.sentBefore <= number }.count)
    return true
  }

  private mutating func receiveUnnumbered(_ content: FrameContent) -> FrameDisposition {
    switch content {
    case .malformed: return .deliver
    case .message(.request(let request)) where request.method == "$/ping": return .deliver
    case .message(.notification(let notification)) where notification.method == "$/ack":
      let number = notification.params?["seq"]?.integer.flatMap(UInt64.init(exactly:))
      let isKnown = number.map { acknowledged(through: $0) } == true
      return isKnown ? .drop : .gap("an ack of a message that was never sent")
    default: return .gap("a message has no seq")
    }
  }
}
