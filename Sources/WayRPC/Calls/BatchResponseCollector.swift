/// Collects the responses to one batch, in any order, and joins them in the order of the requests.
///
/// Notifications and responses have no response. A batch without any response is not answered at
/// all.
package struct BatchResponseCollector: Sendable {
  /// The state of one message's response.
  package enum ResponseSlot: Sendable {
    /// The message has no response.
    case none
    case pending
    case completed([UInt8])
  }

  /// The slots in the order of the messages.
  package private(set) var slots: [ResponseSlot]
  private var pendingCount: Int

  package init(for messages: [Message]) {
    self.init(slots: messages.map { $0.expectsResponse ? .pending : .none })
  }

  /// Restores a collector with the responses so far.
  package init(slots: [ResponseSlot]) {
    self.slots = slots
    pendingCount = slots.count { if case .pending = $0 { true } else { false } }
  }

  /// Whether all responses are present; `true` from the start if none is expected.
  package var isComplete: Bool { pendingCount == 0 }

  /// Stores the encoded response to the message at `position` of the batch. Returns `false`, and
  /// changes nothing, if that message expects no response or has its response already.
  package mutating func fill(_ position: Int, with bytes: [UInt8]) -> Bool {
    guard slots.indices.contains(position), case .pending = slots[position] else { return false }
    slots[position] = .completed(bytes)
    pendingCount -= 1
    return true
  }

  /// The responses so far, in the order of their requests.
  package var completedResponses: [[UInt8]] {
    slots.compactMap { if case .completed(let bytes) = $0 { bytes } else { nil } }
  }

  /// Returns the text of the batch of the responses so far; `nil` if there are none.
  package func joined() -> [UInt8]? {
    var text: [UInt8] = []
    for case .completed(let bytes) in slots {
      text.append(text.isEmpty ? UInt8(ascii: "[") : UInt8(ascii: ","))
      text += bytes
    }
    if text.isEmpty { return nil }
    text.append(UInt8(ascii: "]"))
    return text
  }
}
