import WayRPC

/// A batch that is taken message by message.
struct SessionBatchInProgress {
  let reply: BatchReply
  private let messages: [Message]
  private var position = 0

  /// The number of the client's message before it.
  let before: UInt64

  init(_ messages: [Message], _ numbers: SequenceNumbers = .none) {
    self.messages = messages
    before = max(numbers.first, 1) - 1
    reply = BatchReply(messages, number: numbers.last)
  }

  var isDone: Bool { position == messages.count }

  /// The next message, and its place.
  mutating func next() -> (message: Message, position: Int)? {
    guard position < messages.count else { return nil }
    defer { position += 1 }
    return (messages[position], position)
  }
}
