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

  /// Restores a batch with the responses so far.
  init(number: UInt64, slots: [BatchResponseCollector.ResponseSlot]) {
    self.number = number
    responses = BatchResponseCollector(slots: slots)
  }

  /// The responses so far, in the order of the messages.
  var slots: [BatchResponseCollector.ResponseSlot] { responses.slots }

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
