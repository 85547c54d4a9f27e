import WayRPC

/// The answers of one batch, in the order of its requests, sent as one array when all are there.
final class BatchReply {
  private var answers: BatchAnswers
  /// Bytes of the answers so far.
  private(set) var size = 0
  /// Set by an answer that had no room: no further requests are carried out.
  var isFull = false

  init(_ messages: [Message]) {
    answers = BatchAnswers(for: messages)
  }

  /// Takes the answer to the message at `position`; true when it was the last that was missing.
  func answer(_ position: Int, with bytes: [UInt8]) -> Bool {
    size += bytes.count
    return answers.answer(position, with: bytes) && answers.isComplete
  }

  /// The answers given so far.
  var given: [[UInt8]] { answers.given }

  /// The text of the whole batch; nil where nothing is answered.
  var whole: [UInt8]? { answers.joined() }
}
