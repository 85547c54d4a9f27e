/// The `seq` of the messages in one frame.
package struct SequenceNumbers: Sendable, Hashable {
  /// That of the first message; 0 where it has none.
  package private(set) var first: UInt64
  /// That of the last.
  package private(set) var last: UInt64
  /// Whether they are no numbers, or do not follow one another.
  package private(set) var areBroken: Bool

  /// Those of a frame without any.
  package static let none = SequenceNumbers(nil)

  /// Those of the first message: nil for none, 0 for what is no number.
  init(_ seq: UInt64?) {
    first = seq ?? 0
    last = first
    areBroken = seq == 0
  }

  /// Whether no message has one.
  package var areAbsent: Bool { first == 0 && !areBroken }

  /// The next message of a batch has this one.
  mutating func follow(_ seq: UInt64?) {
    if areAbsent, seq == nil { return }
    if let seq, first != 0, seq == last &+ 1 { last = seq } else { areBroken = true }
  }
}
