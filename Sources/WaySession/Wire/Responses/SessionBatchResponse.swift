import WayRPC
import WayValues

/// The responses of one batch, in the order of its requests. They are sent as one array when all
/// are complete.
final class SessionBatchResponse {
  private var responses: BatchResponseCollector
  /// The bytes of the responses so far.
  private(set) var size = 0
  /// Whether a response did not fit. No further requests of the batch are performed then.
  var isFull = false

  /// The number of the client's last message in the batch, which distinguishes its batches. 0 if
  /// messages are not numbered.
  let number: UInt64

  init(_ messages: [Message], number: UInt64 = 0) {
    responses = BatchResponseCollector(for: messages)
    self.number = number
  }

  /// The stored form.
  var record: ClientStateRecord.UnfinishedBatch {
    .init(
      number: number,
      answers: responses.slots.map { slot in
        switch slot {
        case .none: false
        case .pending: true
        case .completed(let bytes): .string(String(decoding: bytes, as: UTF8.self))
        }
      })
  }

  /// Reads a ``record``.
  init(_ record: ClientStateRecord.UnfinishedBatch) throws(RecordDecodingError) {
    number = record.number
    responses = BatchResponseCollector(
      slots: try record.answers.map { (value) throws(RecordDecodingError) in
        switch value {
        case .bool(let isWaiting): isWaiting ? .pending : .none
        case .string(let text): .completed(Array(text.utf8))
        default: throw RecordDecodingError("an answer of a batch is no answer")
        }
      })
  }

  /// Adds the response to the message at `position`. Returns true if it was the last one missing.
  func fill(_ position: Int, with bytes: [UInt8]) -> Bool {
    size += bytes.count
    return responses.fill(position, with: bytes) && responses.isComplete
  }

  /// The responses so far.
  var completedResponses: [[UInt8]] { responses.completedResponses }

  /// The JSON text of the whole batch; nil if it has no response.
  var encoded: [UInt8]? { responses.joined() }
}
