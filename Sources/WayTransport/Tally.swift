import Synchronization

/// A number that one thread adds to and any may read. With one writer a plain load and store is enough, which costs
/// less than an addition that others may meet.
package struct Tally: ~Copyable, Sendable {
  @usableFromInline let number = Atomic(0)

  package init() {}

  package var value: Int { number.load(ordering: .relaxed) }

  /// Wraps around.
  @inlinable package func add(_ amount: Int = 1) {
    number.store(number.load(ordering: .relaxed) &+ amount, ordering: .relaxed)
  }
}
