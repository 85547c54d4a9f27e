/// The `seq` of the messages in one frame.
package struct SequenceNumbers: Sendable, Hashable {
  /// The number of the first message; 0 if it has none.
  package private(set) var first: UInt64
  /// The number of the last message.
  package private(set) var last: UInt64
  /// Whether the values are no numbers, or are not consecutive.
  package private(set) var areInvalid: Bool

  /// The numbers of a frame without any.
  package static let none = SequenceNumbers(nil)

  /// Creates the numbers of the first message: `nil` for none, 0 for an invalid one.
  init(_ seq: UInt64?) {
    first = seq ?? 0
    last = first
    areInvalid = seq == 0
  }

  /// Whether no message has a number.
  package var areAbsent: Bool { first == 0 && !areInvalid }

  /// Appends the number of the next message of a batch.
  mutating func append(_ seq: UInt64?) {
    if areAbsent, seq == nil { return }
    if let seq, first != 0, seq == last &+ 1 { last = seq } else { areInvalid = true }
  }
}
