/// The numbered messages that one side has sent and the other has not acknowledged, and those that
/// wait to be sent.
package struct Outbox: Sendable, Hashable {
  /// The role of a message while it waits.
  package enum MessageTag: Sendable, Hashable {
    case none
    /// The progress of a request, which replaces an older one.
    case progress(RequestID)
    /// The request with this id.
    case request(RequestID)
    /// A message that has no meaning in another session: a response, a cancellation.
    case sessionBound
  }

  private struct SentFrame: Sendable, Hashable {
    /// The number of its last message; a batch has several.
    let last: UInt64
    /// The end of the frame in ``buffer``.
    var end: Int
  }

  private struct UnsentFrame: Sendable, Hashable {
    let messages: [[UInt8]]
    let isBatch: Bool
    let tag: MessageTag

    var size: Int { messages.reduce(0) { $0 + $1.count } }

    var isProgress: Bool { if case .progress = tag { true } else { false } }
  }

  /// The last number that was assigned.
  package private(set) var last: UInt64
  /// The digits of that number: incrementing them costs less than formatting the number again.
  private var digits: [UInt8]
  /// The number up to which all messages were acknowledged.
  package private(set) var acknowledged: UInt64
  /// The frames, one after the other, from ``bufferStart`` on.
  private var buffer: [UInt8] = []
  private var bufferStart = 0
  private var sent: [SentFrame] = []
  private var firstSent = 0
  private var unsent: [UnsentFrame] = []
  private var unsentBytes = 0

  /// Creates an outbox; `last` messages were sent and acknowledged before.
  package init(last: UInt64 = 0) {
    self.last = last
    digits = Array("\(last)".utf8)
    acknowledged = last
  }

  /// The number of frames that were sent or wait.
  package var count: Int { sent.count - firstSent + unsent.count }
  /// The number of bytes of these frames.
  package var bytes: Int { buffer.count - bufferStart + unsentBytes }

  /// Numbers, stores and sends a message. It must have the beginning that ``MessageWriter`` writes.
  package mutating func add(_ message: [UInt8], _ send: (RawSpan) -> Void) {
    let start = buffer.count
    appendNumbered(message)
    finishFrame(from: start, send)
  }

  /// The current size of an outbox.
  package struct OutboxSize: Sendable {
    package let frames: Int
    package let bytes: Int
  }

  /// Returns the current size. Mutating, so that the outbox is read in place and not copied.
  package mutating func currentSize() -> OutboxSize { OutboxSize(frames: count, bytes: bytes) }

  /// Numbers each message of a batch, and stores and sends the batch.
  package mutating func add(batch messages: [[UInt8]], _ send: (RawSpan) -> Void) {
    let start = buffer.count
    buffer.append(UInt8(ascii: "["))
    for (index, message) in messages.enumerated() {
      if index > 0 { buffer.append(UInt8(ascii: ",")) }
      appendNumbered(message)
    }
    buffer.append(UInt8(ascii: "]"))
    finishFrame(from: start, send)
  }

  private mutating func appendNumbered(_ message: [UInt8]) {
    last += 1
    digits.increment()
    buffer += Self.numberedPrefix
    buffer += digits
    buffer += message[MessageWriter.messagePrefix.count...]
  }

  private mutating func finishFrame(from start: Int, _ send: (RawSpan) -> Void) {
    sent.append(SentFrame(last: last, end: buffer.count))
    send(buffer.span.bytes.extracting(start..<buffer.count))
  }

  /// The maximum number of bytes that its number adds to a message.
  package static let maxNumberSize =
    numberedPrefix.count - MessageWriter.messagePrefix.count + String(UInt64.max).utf8.count

  private static let numberedPrefix = MessageWriter.messagePrefix + Array(#","seq":"#.utf8)

  /// Stores a message until it can be sent. For the progress of one request only the latest is
  /// stored.
  package mutating func enqueue(_ message: [UInt8], _ tag: MessageTag = .none) {
    if case .progress = tag, let index = unsent.firstIndex(where: { $0.tag == tag }) {
      unsentBytes -= unsent.remove(at: index).size
    }
    enqueue(UnsentFrame(messages: [message], isBatch: false, tag: tag))
  }

  /// Stores a batch until it can be sent.
  package mutating func enqueue(batch messages: [[UInt8]]) {
    enqueue(UnsentFrame(messages: messages, isBatch: true, tag: .none))
  }

  private mutating func enqueue(_ frame: UnsentFrame) {
    unsent.append(frame)
    unsentBytes += frame.size
  }

  /// Removes a request that waits; returns `false` if it does not wait.
  package mutating func withdraw(_ id: RequestID) -> Bool {
    guard let index = unsent.firstIndex(where: { $0.tag == .request(id) }) else { return false }
    unsentBytes -= unsent.remove(at: index).size
    return true
  }

  /// Removes and returns all messages that have never been sent, each by itself, in order.
  package mutating func removeUnsent() -> [(message: [UInt8], tag: MessageTag)] {
    defer {
      unsent = []
      unsentBytes = 0
    }
    return unsent.flatMap { frame in frame.messages.map { ($0, frame.tag) } }
  }

  /// Numbers and sends the messages that wait, in order; `numbered` receives the numbers of the
  /// requests among them.
  package mutating func flush(
    _ send: (RawSpan) -> Void, numbered: (RequestID, UInt64) -> Void = { _, _ in }
  ) {
    let frames = unsent
    unsent = []
    unsentBytes = 0
    for frame in frames { addUnsent(frame, send, numbered) }
  }

  private mutating func addUnsent(
    _ frame: UnsentFrame, _ send: (RawSpan) -> Void, _ numbered: (RequestID, UInt64) -> Void
  ) {
    if frame.isBatch {
      add(batch: frame.messages, send)
    } else {
      for message in frame.messages { add(message, send) }
      if case .request(let id) = frame.tag { numbered(id, last) }
    }
  }

  /// Advances to a number up to which the peer has received messages, which this side may have
  /// forgotten; the next message has a higher number.
  package mutating func skip(to number: UInt64) {
    guard number > last else { return }
    last = number
    digits = Array("\(last)".utf8)
    _ = acknowledge(number)
  }

  /// Records that the peer has all messages up to a number. Returns `false`, with nothing changed,
  /// for a number that was never assigned.
  package mutating func acknowledge(_ number: UInt64) -> Bool {
    guard number <= last else { return false }
    guard number > acknowledged else { return true }
    acknowledged = number
    while firstSent < sent.count, sent[firstSent].last <= number {
      bufferStart = sent[firstSent].end
      firstSent += 1
    }
    compact()
    return true
  }

  /// Frees the memory of acknowledged messages from time to time.
  private mutating func compact() {
    if firstSent == sent.count {
      buffer.removeAll(keepingCapacity: buffer.capacity <= Self.retainedBytes)
      sent.removeAll(keepingCapacity: sent.capacity <= Self.retainedFrames)
      (bufferStart, firstSent) = (0, 0)
    } else if bufferStart >= Self.retainedBytes, bufferStart >= buffer.count / 2 {
      buffer.removeFirst(bufferStart)
      sent.removeFirst(firstSent)
      for index in sent.indices { sent[index].end -= bufferStart }
      (bufferStart, firstSent) = (0, 0)
    }
  }

  /// The memory that an idle client may keep.
  private static let retainedBytes = 256
  private static let retainedFrames = 16

  /// Sends all frames after `number`, which is between ``acknowledged`` and the last one, up to
  /// `last`.
  package func replay(
    after number: UInt64, through last: UInt64 = .max, _ send: (RawSpan) -> Void
  ) {
    forEach(after: number, through: last) { _, frame in send(frame) }
  }

  /// Visits the frames between two numbers, each with the number of its last message.
  package func forEach(
    after number: UInt64, through last: UInt64 = .max, _ body: (UInt64, RawSpan) -> Void
  ) {
    var start = bufferStart
    for frame in sent[firstSent...] {
      if frame.last > last { return }
      if frame.last > number { body(frame.last, buffer.span.bytes.extracting(start..<frame.end)) }
      start = frame.end
    }
  }

  /// Replaces frames that were sent and not acknowledged. `replacement` receives the number of a
  /// frame's last message and its bytes, and returns nil to keep the frame.
  package mutating func replaceSent(_ replacement: (UInt64, RawSpan) -> [UInt8]?) {
    var replaced: [UInt8] = []
    var start = bufferStart
    for index in sent.indices[firstSent...] {
      let end = sent[index].end
      replaced +=
        replacement(sent[index].last, buffer.span.bytes.extracting(start..<end))
        ?? Array(buffer[start..<end])
      sent[index].end = replaced.count
      start = end
    }
    sent.removeFirst(firstSent)
    (buffer, bufferStart, firstSent) = (replaced, 0, 0)
  }

  /// The ids of the requests that the waiting messages respond to.
  package var unsentResponseIDs: [RequestID] {
    unsent.flatMap(\.messages).flatMap { MessageIDReader.responseIDs(in: $0.span.bytes) }
  }

  /// Numbers the messages that wait, except progress, which is useless if it arrives late;
  /// `numbered` receives the numbers of the requests among them.
  package mutating func numberUnsent(_ numbered: (RequestID, UInt64) -> Void) {
    let frames = unsent
    unsent = frames.filter(\.isProgress)
    unsentBytes = unsent.reduce(0) { $0 + $1.size }
    for frame in frames where !frame.isProgress { addUnsent(frame, { _ in }, numbered) }
  }

  /// Restores an outbox with frames that were numbered before a restart, `last` being the highest
  /// number. Some of the messages were acknowledged.
  package init(last: UInt64, acknowledged: UInt64, frames: [(last: UInt64, bytes: [UInt8])]) {
    self.init(last: last)
    self.acknowledged = acknowledged
    for frame in frames {
      buffer += frame.bytes
      sent.append(SentFrame(last: frame.last, end: buffer.count))
    }
  }
}

extension [UInt8] {
  /// Increments a decimal number.
  fileprivate mutating func increment() {
    var index = count - 1
    while index >= 0 {
      if self[index] < UInt8(ascii: "9") {
        self[index] += 1
        return
      }
      self[index] = UInt8(ascii: "0")
      index -= 1
    }
    insert(UInt8(ascii: "1"), at: 0)
  }
}
