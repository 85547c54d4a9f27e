import Synchronization

/// Counts of cluster events that one server has seen. May be used on any thread.
package final class SessionClusterCounts: Sendable {
  /// Sessions of servers that are down which this server has taken over: at its start, for a client
  /// that connected, and because no client connected.
  package let takenOverAtStart = AtomicCounter()
  package let takenOverForClients = AtomicCounter()
  package let takenOverAsOrphans = AtomicCounter()
  /// Sessions that were handed over to other servers, and those that other servers took over.
  package let handedOver = AtomicCounter()
  package let lostToPeers = AtomicCounter()
  /// Messages of other servers that could not be decoded.
  package let unreadableMessages = AtomicCounter()
  /// Messages that no server of the cluster has sent to this one just now.
  package let rejectedMessages = AtomicCounter()
  /// Contents of the file of the cluster's secrets that were rejected.
  package let rejectedSecrets = AtomicCounter()
  /// Reloads of that file in which its secrets could not be compared with those of other servers.
  package let secretComparisonFailures = AtomicCounter()
  /// Requests that were sent to other servers.
  package let requestsSent = AtomicCounter()

  init() {}

  /// A counter that only grows.
  package final class AtomicCounter: Sendable {
    private let number = Atomic(0)

    init() {}

    package var value: Int { number.load(ordering: .relaxed) }

    package func add(_ count: Int = 1) { number.add(count, ordering: .relaxed) }
  }
}
