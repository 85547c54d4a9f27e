/// Collects the answers to one batch, in whatever order they come, and joins them in the order of
/// the requests.
///
/// Notifications and responses have no answer. A batch without any answer is answered by nothing at
/// all.
package struct BatchAnswers: Sendable {
  /// The place of one message's answer.
  package enum Slot: Sendable {
    /// The message wants none.
    case none
    case waiting
    case given([UInt8])
  }

  /// In the order of the messages.
  package private(set) var slots: [Slot]
  private var waiting: Int

  package init(for messages: [Message]) {
    self.init(slots: messages.map { $0.wantsAnswer ? .waiting : .none })
  }

  /// Goes on with the answers that there are.
  package init(slots: [Slot]) {
    self.slots = slots
    waiting = slots.count { if case .waiting = $0 { true } else { false } }
  }

  /// Whether no answer is missing any more; true from the start where none is wanted.
  package var isComplete: Bool { waiting == 0 }

  /// Takes the encoded answer to the message at `position` of the batch. False, and nothing
  /// changes, where that message wants no answer or has its answer already.
  package mutating func answer(_ position: Int, with bytes: [UInt8]) -> Bool {
    guard slots.indices.contains(position), case .waiting = slots[position] else { return false }
    slots[position] = .given(bytes)
    waiting -= 1
    return true
  }

  /// The answers given so far, in the order of their requests.
  package var given: [[UInt8]] {
    slots.compactMap { if case .given(let bytes) = $0 { bytes } else { nil } }
  }

  /// The text of the batch of the answers given so far; nil where there are none.
  package func joined() -> [UInt8]? {
    var text: [UInt8] = []
    for case .given(let bytes) in slots {
      text.append(text.isEmpty ? UInt8(ascii: "[") : UInt8(ascii: ","))
      text += bytes
    }
    if text.isEmpty { return nil }
    text.append(UInt8(ascii: "]"))
    return text
  }
}
