import WayRPC
import WayTransport
import WayValues

/// What is said over a client's connections: numbered, acknowledged and kept where the server can
/// resume, and held while there is no connection. Beside that, questions without number, which live
/// and die with their connection.
///
/// Knows no connection but the one that it is handed, and no clock.
struct Conversation: ~Copyable {
  /// What is to be done with a frame.
  enum Verdict: Sendable {
    case take
    case drop
    /// It answers a question: whoever asked is to be told.
    case answer(@Sendable (Result<Value, CallError>) -> Void, Result<Value, CallError>)
    /// The two sides do not fit any more, for this reason: the connection is of no use.
    case gap(String)
  }

  /// How far a conversation has come.
  struct Reached: Sendable {
    /// The number of the last message that was taken.
    let received: UInt64
    /// The number of the last message that a connection was given, whether or not that has carried
    /// it: what only waits for a connection has no number yet.
    let sent: UInt64
  }

  /// Bytes that are kept until the server has them; a single message may be larger. A socket takes
  /// 8 MiB at once.
  private static let maxKept = 6 << 20

  /// nil where the server cannot resume, or the app does not want it.
  private var numbering: SequenceState?
  private var canGoOn = false
  private var writer = MessageWriter()
  private var asked: [RequestID: @Sendable (Result<Value, CallError>) -> Void] = [:]
  private var lastQuestion = 0

  var isNumbered: Bool { numbering != nil }
  /// Whether nothing more can be kept for the server.
  var isFull: Bool { (numbering?.outbox.bytes ?? 0) > Self.maxKept }
  /// Whether anything was taken that was not acknowledged.
  var owesAck: Bool { numbering?.owesAck == true }
  /// When the server is to be told of it.
  mutating func dueAck() -> SequenceState.Ack { numbering?.dueAck() ?? .never }

  /// Both sides begin with 1, where they number; what was kept is dropped.
  mutating func begin(isNumbered: Bool) {
    numbering = isNumbered ? SequenceState() : nil
    canGoOn = isNumbered
  }

  /// There is nothing to go on with any more; what waits still does.
  mutating func forget() {
    canGoOn = false
  }

  /// The connection is lost: nobody answers what was asked over it.
  mutating func interrupt() {
    asked = [:]
  }

  /// How far both sides have come, for the server to go on after; nil where there is nothing to go on
  /// with.
  mutating func reached() -> Reached? {
    guard canGoOn, let received = numbering?.acknowledge(), let sent = numbering?.outbox.last else {
      return nil
    }
    return Reached(received: received, sent: sent)
  }

  /// The server goes on that has taken what was sent up to `number`: it is sent the rest again, then
  /// what has waited, whose numbers are told. False, with nothing done, where that is impossible.
  mutating func resume(
    after number: UInt64, over channel: any MessageChannel,
    numbered: (RequestID, UInt64) -> Void
  ) -> Bool {
    guard case .after? = numbering?.resumption(after: number, isReloaded: false) else {
      return false
    }
    numbering?.resume(after: number, { channel.send($0, as: .text) }, numbered: numbered)
    return true
  }

  /// Sends a message, or, without `channel`, keeps it until it can be sent; what cannot be kept is
  /// dropped. Gives its number, where it has one by now.
  mutating func send(
    _ message: [UInt8], _ tag: Outbox.Tag, over channel: (any MessageChannel)?
  ) -> UInt64? {
    guard numbering != nil else {
      channel?.send(message.span.bytes, as: .text)
      return nil
    }
    guard let channel else {
      numbering?.outbox.hold(message, tag)
      return nil
    }
    numbering?.outbox.add(message) { channel.send($0, as: .text) }
    return numbering?.outbox.last
  }

  /// Asks what has no number. Fails with -32602 where it cannot be written.
  mutating func ask(
    _ method: String, _ params: Value?, over channel: any MessageChannel,
    _ answer: @escaping @Sendable (Result<Value, CallError>) -> Void
  ) throws(CallError) {
    lastQuestion += 1
    let id = RequestID.string("apart-\(lastQuestion)")
    do {
      try writer.request(id, method, params)
    } catch {
      throw .invalidParams("The params of \(method) cannot be sent: \(error)")
    }
    asked[id] = answer
    writer.use { channel.send($0, as: .text) }
  }

  /// Takes a request back that was not sent yet; false where it was.
  mutating func takeBack(_ id: RequestID) -> Bool {
    numbering?.outbox.takeBack(id) ?? false
  }

  /// Takes out what was not sent yet.
  mutating func takeWaiting() -> [(message: [UInt8], tag: Outbox.Tag)] {
    numbering?.outbox.takeWaiting() ?? []
  }

  mutating func acknowledge(over channel: any MessageChannel) {
    guard let number = numbering?.acknowledge() else { return }
    writer.acknowledgement(of: number)
    writer.use { channel.send($0, as: .text) }
  }

  /// Decides on a frame. Before the hello is answered (`isOpen`) nothing has a number.
  mutating func admit(
    _ incoming: FrameContent, _ numbers: SequenceNumbers, bytes: Int, isOpen: Bool
  ) -> Verdict {
    if case .message(.response(let response)) = incoming, numbers.areAbsent,
      let answer = asked.removeValue(forKey: response.id)
    {
      return .answer(answer, response.result)
    }
    guard isOpen, numbering != nil else { return .take }
    if numbers.areAbsent { return admitApart(incoming) }
    switch numbering?.receive(numbers, bytes: bytes) {
    case nil, .take: return .take
    case .drop: return .drop
    case .gap: return .gap("the message after seq \(numbering?.received ?? 0) is missing")
    }
  }

  private mutating func admitApart(_ incoming: FrameContent) -> Verdict {
    switch incoming {
    case .malformed: return .take
    case .message(.request(let request)) where request.method == "$/ping": return .take
    case .message(.notification(let notification)) where notification.method == "$/ack":
      let number = notification.params?["seq"]?.integer.flatMap(UInt64.init(exactly:))
      let isKnown = number.flatMap { numbering?.outbox.acknowledge($0) } == true
      return isKnown ? .drop : .gap("an ack of what was never sent")
    default: return .gap("a message has no seq")
    }
  }
}
