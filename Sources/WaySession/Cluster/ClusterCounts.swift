import Synchronization

/// What has happened in a cluster, as one server has seen it. May be used on any thread.
package final class ClusterCounts: Sendable {
  /// Sessions of servers that are gone which this one has taken over: as it began, because a client
  /// came for them, and because none did.
  package let takenAtStart = Count()
  package let takenForClients = Count()
  package let takenAsOrphans = Count()
  /// Sessions that were given to others, and that others have taken.
  package let handedOver = Count()
  package let lost = Count()
  /// Messages of other servers that could not be read.
  package let unreadable = Count()
  /// Questions that were put to other servers.
  package let asked = Count()

  init() {}

  /// A number that grows.
  package final class Count: Sendable {
    private let number = Atomic(0)

    init() {}

    package var value: Int { number.load(ordering: .relaxed) }

    func add(_ count: Int = 1) { number.add(count, ordering: .relaxed) }
  }
}
