import WayRPC

/// A batch that is handled message by message.
struct SessionBatchInProgress {
  let response: SessionBatchResponse
  private let messages: [Message]
  private var position = 0

  /// The number of the client's last message before the batch.
  let precedingNumber: UInt64

  init(_ messages: [Message], _ numbers: SequenceNumbers = .none) {
    self.messages = messages
    precedingNumber = max(numbers.first, 1) - 1
    response = SessionBatchResponse(messages, number: numbers.last)
  }

  var isFinished: Bool { position == messages.count }

  /// The next message, and its position in the batch.
  mutating func next() -> (message: Message, position: Int)? {
    guard position < messages.count else { return nil }
    defer { position += 1 }
    return (messages[position], position)
  }
}
