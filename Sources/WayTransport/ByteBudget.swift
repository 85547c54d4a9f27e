import Synchronization

/// Bytes that peers may have the server keep. Budgets stand in a chain: what a client keeps counts
/// for its session, and for the server. May be used on any thread.
package final class ByteBudget: Sendable {
  /// Whose bytes they are.
  package enum Level: String, Sendable {
    /// Of the pages of a session.
    case stack
    case client, session, server
  }

  /// There is not so much left.
  package struct Exhausted: Error {
    package let level: Level
    package let limit: Int
    /// What is taken already.
    package let used: Int
  }

  /// A part of a budget, given back when nothing refers to it any more.
  package final class Charge: Sendable {
    private let budget: ByteBudget
    private let bytes: Int

    fileprivate init(_ budget: ByteBudget, _ bytes: Int) {
      self.budget = budget
      self.bytes = bytes
    }

    deinit { budget.give(bytes) }
  }

  package let level: Level
  package let limit: Int
  private let parent: ByteBudget?
  private let taken = Atomic(0)

  package init(_ level: Level, _ limit: Int, within parent: ByteBudget? = nil) {
    self.level = level
    self.limit = limit
    self.parent = parent
  }

  /// Bytes that are taken.
  package var used: Int { taken.load(ordering: .relaxed) }

  /// Takes so many bytes, here and up the chain, or none. `besides` are bytes that count here, and
  /// are not taken.
  private func take(_ bytes: Int, besides: Int = 0) throws(Exhausted) {
    let used = taken.add(bytes, ordering: .relaxed).oldValue
    guard bytes <= limit - used - besides else {
      taken.subtract(bytes, ordering: .relaxed)
      throw Exhausted(level: level, limit: limit, used: used + besides)
    }
    do { try parent?.take(bytes) } catch {
      taken.subtract(bytes, ordering: .relaxed)
      throw error
    }
  }

  /// Gives back what was taken.
  private func give(_ bytes: Int) {
    taken.subtract(bytes, ordering: .relaxed)
    parent?.give(bytes)
  }

  /// Takes so many bytes for as long as the charge lives.
  package func charge(_ bytes: Int, besides: Int = 0) throws(Exhausted) -> Charge {
    try take(bytes, besides: besides)
    return Charge(self, bytes)
  }
}
