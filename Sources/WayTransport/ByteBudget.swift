import Synchronization

/// A limit on the bytes that the server stores for peers. Budgets form a chain: a client's bytes
/// also count toward its session and the server. Thread-safe.
package final class ByteBudget: Sendable {
  /// The owner of the bytes.
  package enum Level: String, Sendable {
    /// The pages of a session.
    case stack
    case client, session, server
  }

  /// The error if the budget is exhausted.
  package struct Exhausted: Error {
    package let level: Level
    package let limit: Int
    /// The number of bytes in use.
    package let used: Int
  }

  /// A reserved part of a budget, released when its last reference goes away.
  package final class Charge: Sendable {
    private let budget: ByteBudget
    private let bytes: Int

    fileprivate init(_ budget: ByteBudget, _ bytes: Int) {
      self.budget = budget
      self.bytes = bytes
    }

    deinit { budget.release(bytes) }
  }

  package let level: Level
  package let limit: Int
  private let parent: ByteBudget?
  private let usedBytes = Atomic(0)

  package init(_ level: Level, _ limit: Int, within parent: ByteBudget? = nil) {
    self.level = level
    self.limit = limit
    self.parent = parent
  }

  /// The number of bytes in use.
  package var used: Int { usedBytes.load(ordering: .relaxed) }

  /// Reserves bytes here and in all parents, or in none of them. `alongside` are bytes that count
  /// here without being reserved.
  private func reserve(_ bytes: Int, alongside: Int = 0) throws(Exhausted) {
    let used = usedBytes.add(bytes, ordering: .relaxed).oldValue
    guard bytes <= limit - used - alongside else {
      usedBytes.subtract(bytes, ordering: .relaxed)
      throw Exhausted(level: level, limit: limit, used: used + alongside)
    }
    do { try parent?.reserve(bytes) } catch {
      usedBytes.subtract(bytes, ordering: .relaxed)
      throw error
    }
  }

  /// Releases reserved bytes here and in all parents.
  private func release(_ bytes: Int) {
    usedBytes.subtract(bytes, ordering: .relaxed)
    parent?.release(bytes)
  }

  /// Reserves bytes for the lifetime of the charge.
  package func charge(_ bytes: Int, alongside: Int = 0) throws(Exhausted) -> Charge {
    try reserve(bytes, alongside: alongside)
    return Charge(self, bytes)
  }
}
