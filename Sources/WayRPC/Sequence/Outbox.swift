/// The messages that one side has sent and the other has not acknowledged, with their numbers, and
/// those that wait to be sent.
package struct Outbox: Sendable, Hashable {
  /// What is to be known of a message while it waits.
  package enum Tag: Sendable, Hashable {
    case none
    /// It is the progress of a request: nobody needs an older one.
    case progress(RequestID)
    /// It is the request of this id.
    case request(RequestID)
    /// It means nothing to another session: an answer, a cancellation.
    case bound
  }

  private struct Sent: Sendable, Hashable {
    /// The number of its last message: a batch has several.
    let last: UInt64
    /// Where it ends in ``text``.
    var end: Int
  }

  private struct Waiting: Sendable, Hashable {
    let messages: [[UInt8]]
    let isBatch: Bool
    let tag: Tag

    var size: Int { messages.reduce(0) { $0 + $1.count } }

    var isProgress: Bool { if case .progress = tag { true } else { false } }
  }

  /// The number that was given last.
  package private(set) var last: UInt64
  /// That number as it is written: counting on costs less than writing it anew.
  private var digits: [UInt8]
  /// Up to this one, all was acknowledged.
  package private(set) var acknowledged: UInt64
  /// The frames, one behind the other, from ``begin`` on.
  private var text: [UInt8] = []
  private var begin = 0
  private var sent: [Sent] = []
  private var firstSent = 0
  private var waiting: [Waiting] = []
  private var waitingBytes = 0

  /// `last` messages were sent and acknowledged before.
  package init(last: UInt64 = 0) {
    self.last = last
    digits = Array("\(last)".utf8)
    acknowledged = last
  }

  /// Frames that were sent or wait.
  package var count: Int { sent.count - firstSent + waiting.count }
  /// Bytes of them.
  package var bytes: Int { text.count - begin + waitingBytes }

  /// Gives a message its number, and keeps it. It must begin as ``MessageWriter`` begins it.
  package mutating func add(_ message: [UInt8], _ send: (RawSpan) -> Void) {
    let start = text.count
    number(message)
    close(from: start, send)
  }

  /// What it holds now.
  package struct Load: Sendable {
    package let frames: Int
    package let bytes: Int
  }

  /// What it holds now. Mutating, so that it is looked at in its place and not copied.
  package mutating func load() -> Load { Load(frames: count, bytes: bytes) }

  /// Gives each message of a batch its number, and keeps them.
  package mutating func add(batch messages: [[UInt8]], _ send: (RawSpan) -> Void) {
    let start = text.count
    text.append(UInt8(ascii: "["))
    for (place, message) in messages.enumerated() {
      if place > 0 { text.append(UInt8(ascii: ",")) }
      number(message)
    }
    text.append(UInt8(ascii: "]"))
    close(from: start, send)
  }

  private mutating func number(_ message: [UInt8]) {
    last += 1
    digits.increment()
    text += Self.head
    text += digits
    text += message[MessageWriter.head.count...]
  }

  private mutating func close(from start: Int, _ send: (RawSpan) -> Void) {
    sent.append(Sent(last: last, end: text.count))
    send(text.span.bytes.extracting(start..<text.count))
  }

  /// So many bytes longer a message may become by its number.
  package static let numberSize =
    head.count - MessageWriter.head.count + String(UInt64.max).utf8.count

  private static let head = MessageWriter.head + Array(#","seq":"#.utf8)

  /// Keeps a message until it can be sent. Of the progress of one request only the latest is kept.
  package mutating func hold(_ message: [UInt8], _ tag: Tag = .none) {
    if case .progress = tag, let place = waiting.firstIndex(where: { $0.tag == tag }) {
      waitingBytes -= waiting.remove(at: place).size
    }
    hold(Waiting(messages: [message], isBatch: false, tag: tag))
  }

  /// Keeps a batch until it can be sent.
  package mutating func hold(batch messages: [[UInt8]]) {
    hold(Waiting(messages: messages, isBatch: true, tag: .none))
  }

  private mutating func hold(_ frame: Waiting) {
    waiting.append(frame)
    waitingBytes += frame.size
  }

  /// Takes a request back that waits; false where it does not.
  package mutating func takeBack(_ id: RequestID) -> Bool {
    guard let place = waiting.firstIndex(where: { $0.tag == .request(id) }) else { return false }
    waitingBytes -= waiting.remove(at: place).size
    return true
  }

  /// Takes out all that waits and has never been sent, each message by itself, in its order.
  package mutating func takeWaiting() -> [(message: [UInt8], tag: Tag)] {
    defer {
      waiting = []
      waitingBytes = 0
    }
    return waiting.flatMap { frame in frame.messages.map { ($0, frame.tag) } }
  }

  /// Sends what waits, numbered, in its order; tells the numbers of the requests among it.
  package mutating func release(
    _ send: (RawSpan) -> Void, numbered: (RequestID, UInt64) -> Void = { _, _ in }
  ) {
    let frames = waiting
    waiting = []
    waitingBytes = 0
    for frame in frames { number(frame, send, numbered) }
  }

  private mutating func number(
    _ frame: Waiting, _ send: (RawSpan) -> Void, _ numbered: (RequestID, UInt64) -> Void
  ) {
    if frame.isBatch {
      add(batch: frame.messages, send)
    } else {
      for message in frame.messages { add(message, send) }
      if case .request(let id) = frame.tag { numbered(id, last) }
    }
  }

  /// The peer has taken messages up to a number that this side may not know of any more: it goes on
  /// after that.
  package mutating func skip(to number: UInt64) {
    guard number > last else { return }
    last = number
    digits = Array("\(last)".utf8)
    _ = acknowledge(number)
  }

  /// The peer has all up to a number. False, with nothing changed, for one that was never given.
  package mutating func acknowledge(_ number: UInt64) -> Bool {
    guard number <= last else { return false }
    guard number > acknowledged else { return true }
    acknowledged = number
    while firstSent < sent.count, sent[firstSent].last <= number {
      begin = sent[firstSent].end
      firstSent += 1
    }
    shrink()
    return true
  }

  /// Gives back the memory of what was acknowledged, now and then.
  private mutating func shrink() {
    if firstSent == sent.count {
      text.removeAll(keepingCapacity: text.capacity <= Self.keptBytes)
      sent.removeAll(keepingCapacity: sent.capacity <= Self.keptFrames)
      (begin, firstSent) = (0, 0)
    } else if begin >= Self.keptBytes, begin >= text.count / 2 {
      text.removeFirst(begin)
      sent.removeFirst(firstSent)
      for place in sent.indices { sent[place].end -= begin }
      (begin, firstSent) = (0, 0)
    }
  }

  /// What an idle client may keep.
  private static let keptBytes = 256
  private static let keptFrames = 16

  /// Sends all that comes after a number, which is one from ``acknowledged`` to ``last``, and not
  /// after another.
  package func replay(
    after number: UInt64, through last: UInt64 = .max, _ send: (RawSpan) -> Void
  ) {
    forEach(after: number, through: last) { _, frame in send(frame) }
  }

  /// The frames between two numbers, each with the number of its last message.
  package func forEach(
    after number: UInt64, through last: UInt64 = .max, _ body: (UInt64, RawSpan) -> Void
  ) {
    var start = begin
    for frame in sent[firstSent...] {
      if frame.last > last { return }
      if frame.last > number { body(frame.last, text.span.bytes.extracting(start..<frame.end)) }
      start = frame.end
    }
  }

  /// The ids of the requests that what waits answers.
  package var answeredWaiting: [RequestID] {
    waiting.flatMap(\.messages).flatMap { ResponseIDReader.answered(in: $0.span.bytes) }
  }

  /// Numbers what waits, but for progress, which nobody needs who does not hear it in time; tells
  /// the numbers of the requests among it.
  package mutating func numberWaiting(_ numbered: (RequestID, UInt64) -> Void) {
    let frames = waiting
    waiting = frames.filter(\.isProgress)
    waitingBytes = waiting.reduce(0) { $0 + $1.size }
    for frame in frames where !frame.isProgress { number(frame, { _ in }, numbered) }
  }

  /// Frames that were given their numbers in another life, `last` of them, of which some were
  /// acknowledged.
  package init(last: UInt64, acknowledged: UInt64, frames: [(last: UInt64, bytes: [UInt8])]) {
    self.init(last: last)
    self.acknowledged = acknowledged
    for frame in frames {
      text += frame.bytes
      sent.append(Sent(last: frame.last, end: text.count))
    }
  }
}

extension [UInt8] {
  /// Adds one to a decimal number.
  fileprivate mutating func increment() {
    var place = count - 1
    while place >= 0 {
      if self[place] < UInt8(ascii: "9") {
        self[place] += 1
        return
      }
      self[place] = UInt8(ascii: "0")
      place -= 1
    }
    insert(UInt8(ascii: "1"), at: 0)
  }
}
