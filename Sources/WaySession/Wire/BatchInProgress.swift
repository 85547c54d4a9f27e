import WayRPC

/// A batch that is taken message by message.
struct BatchInProgress {
  let reply: BatchReply
  private let messages: [Message]
  private var position = 0

  init(_ messages: [Message]) {
    self.messages = messages
    reply = BatchReply(messages)
  }

  var isDone: Bool { position == messages.count }

  /// The next message, and its place.
  mutating func next() -> (message: Message, position: Int)? {
    guard position < messages.count else { return nil }
    defer { position += 1 }
    return (messages[position], position)
  }
}
