import WayRPC
import WayValues

/// The answers of one batch, in the order of its requests, sent as one array when all are there.
final class BatchReply {
  private var answers: BatchAnswers
  /// Bytes of the answers so far.
  private(set) var size = 0
  /// Set by an answer that had no room: no further requests are carried out.
  var isFull = false

  /// Tells the batches of a client apart: the number of its last message; 0 for one that nobody
  /// numbers.
  let number: UInt64

  init(_ messages: [Message], number: UInt64 = 0) {
    answers = BatchAnswers(for: messages)
    self.number = number
  }

  /// What is kept of it.
  var record: ValueObject {
    [
      "number": .integer(Int64(clamping: number)),
      "answers": .list(
        answers.slots.map { slot in
          switch slot {
          case .none: false
          case .waiting: true
          case .given(let bytes): .string(String(decoding: bytes, as: UTF8.self))
          }
        }),
    ]
  }

  /// Reads what ``record`` gives.
  init(_ record: Record) throws(Record.Fault) {
    number = try record.number("number")
    answers = BatchAnswers(
      slots: try record.list("answers").map { (value) throws(Record.Fault) in
        switch value {
        case .bool(let isWaiting): isWaiting ? .waiting : .none
        case .string(let text): .given(Array(text.utf8))
        default: throw record.fault("answers", "list of answers")
        }
      })
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
